"""The answers that a console takes to a permission request."""

from __future__ import annotations

import builtins

import pytest

from acp_notebook.kernel.views import console_cell
from acp_notebook.session.updates import PermissionOption

OPTIONS = (
    PermissionOption("y", "Yes", "allow_once"),
    PermissionOption("n", "No", "reject_once"),
)


@pytest.mark.parametrize(("only_rejects", "taken"), [(False, "y"), (True, "n")])
def test_what_is_not_shown_whole_can_only_be_rejected(
    monkeypatch: pytest.MonkeyPatch, only_rejects: bool, taken: str
) -> None:
    lines = iter(["1", "Yes", "2"])
    monkeypatch.setattr(builtins, "input", lambda _: next(lines))
    monkeypatch.setattr(console_cell, "drop_typed_ahead", lambda: None)
    answer = console_cell.choose_at_console("Q", OPTIONS, lambda: True, only_rejects=only_rejects)
    assert answer == taken

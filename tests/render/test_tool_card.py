"""What the card of a tool call shows of places, pictures and half-known calls."""

from __future__ import annotations

import re

import pytest

from acp_notebook.render.entries.kinds import render_entry
from acp_notebook.render.markup import Theme, live_theme, record_theme
from acp_notebook.session import updates as u
from acp_notebook.session.content import AudioBlock, ImageBlock
from acp_notebook.session.reducer import apply
from acp_notebook.session.state import EntryKey, SessionState

CALL = u.ToolCallId("call")
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
)


def card(update: u.ToolCallUpdate, theme: Theme | None = None) -> str:
    state = SessionState()
    apply(state, update)
    return str(render_entry(theme or live_theme(), state, EntryKey("tool_call", CALL), "e0"))


@pytest.mark.requirement("TOOL-8")
def test_places_are_named_with_their_lines_and_without_a_folder_lead_nowhere() -> None:
    places = (u.Location("out.txt"), u.Location("/a/b.py", 7), u.Location("../../etc/x", 1))
    html = card(u.ToolCallUpdate(CALL, locations=places))
    assert ">out.txt</span>" in html
    assert ">/a/b.py:7</span>" in html
    assert "../../etc/x:1" in html
    assert "href" not in html


@pytest.mark.requirement("TOOL-8")
def test_a_long_list_of_places_says_what_is_not_shown() -> None:
    html = card(u.ToolCallUpdate(CALL, locations=tuple(u.Location(f"f{n}") for n in range(50))))
    assert "and 30 more places" in html


@pytest.mark.parametrize("theme", [live_theme(), record_theme()])
def test_a_picture_of_a_tool_is_shown_and_other_media_are_named(theme: Theme) -> None:
    blocks = (
        ImageBlock(PIXEL, "image/png"),
        ImageBlock("PHN2Zz4=", "image/svg+xml"),
        ImageBlock("not base64!", "image/png"),
        AudioBlock("AAAA", "audio/wav"),
    )
    html = card(u.ToolCallUpdate(CALL, content=tuple(map(u.ContentItem, blocks))), theme)
    assert html.count('src="data:image/png') == html.count("<img") - theme.is_static == 1
    assert f"data:image/png;base64,{PIXEL}" in html
    assert "Image that cannot be shown: image/svg+xml" in html
    assert "Sound, audio/wav" in html


def test_a_call_of_which_little_is_known_is_named_by_what_there_is() -> None:
    assert "Shell" in card(u.ToolCallUpdate(CALL, name="Shell"))
    bare = card(u.ToolCallUpdate(CALL))
    assert "waiting" in bare
    assert "None" not in bare


def test_every_step_of_a_long_plan_is_shown() -> None:
    state = SessionState()
    steps = tuple(u.PlanEntry(f"Step number {n}", "_urgent", "_stuck") for n in range(120))
    apply(state, u.PlanUpdate(u.PlanId("p"), steps))
    html = str(render_entry(live_theme(), state, EntryKey("plan", "p"), "e0"))
    assert all(f"Step number {n}<" in html for n in range(120))
    apply(state, u.PlanUpdate(u.PlanId("p"), ()))
    assert "Step" not in str(render_entry(live_theme(), state, EntryKey("plan", "p"), "e0"))


@pytest.mark.parametrize("theme", [live_theme(), record_theme()])
def test_code_in_a_title_is_shown_as_code_and_nothing_else_is_markdown(theme: Theme) -> None:
    html = card(u.ToolCallUpdate(CALL, title="Run `a <b>` in **x** ``c`` `d` `e"), theme)
    assert re.search(r"Run <code [^>]*>a &lt;b&gt;</code> in \*\*x\*\* ", html)
    assert html.count("<code") == 2
    assert "<b>" not in html

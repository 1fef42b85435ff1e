"""A question shows all of what it is about; nothing is cut, folded or pushed out of sight."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace
from html import unescape

import pytest

from acp_notebook.render.entries.consent import shown_pieces, shown_text, written_json
from acp_notebook.render.entries.kinds import render_entry
from acp_notebook.render.markup import live_theme, record_theme
from acp_notebook.render.text.console import NOT_WHOLE, question_text
from acp_notebook.session import updates as u
from acp_notebook.session.content import ResourceBlock, ResourceLinkBlock, TextBlock
from acp_notebook.session.reducer import apply
from acp_notebook.session.state import ALLOWED_META, EntryKey, SessionState

ASKED, CALL = u.PermissionId("p"), u.ToolCallId("call")
OPTIONS = (u.PermissionOption("y", "Go ahead", "allow_once"),)
DANGER = "rm --everything"
PAD = "\n" * 200


def words(html: object) -> str:
    return unescape(re.sub(r"<[^>]*>", "", str(html)))


def asked(*updates: u.SessionUpdate, title: str = "May I?", **request: object) -> SessionState:
    state = SessionState()
    for update in [*updates, u.PermissionRequested(ASKED, title, OPTIONS, **request)]:
        apply(state, update)
    return state


def page(state: SessionState) -> str:
    return str(render_entry(live_theme(), state, EntryKey("permission", ASKED), "e0"))


def console(state: SessionState) -> str:
    return question_text(state, state.permissions[ASKED], "demo")


LONG = "x" * 70_000
PLACES = {
    "code": lambda text: asked(subject=u.CodeSubject(text)),
    "command": lambda text: asked(subject=u.CommandSubject(text, "/")),
    "title": lambda text: asked(title=text),
    "description": lambda text: asked(description=text),
    "call's title": lambda text: asked(
        u.ToolCallUpdate(CALL, title=text), subject=u.ToolCallSubject(CALL)
    ),
    "call's input": lambda text: asked(
        u.ToolCallUpdate(CALL, raw_input={"command": text}), subject=u.ToolCallSubject(CALL)
    ),
    "call's nested input": lambda text: asked(
        u.ToolCallUpdate(CALL, raw_input={"a": [{"b": {"c": [0, 1, [[[[text]]]]]}}]}),
        subject=u.ToolCallSubject(CALL),
    ),
    "call's content": lambda text: asked(
        u.ToolCallUpdate(CALL, kind="execute", content=(u.ContentItem(TextBlock(text)),)),
        subject=u.ToolCallSubject(CALL),
    ),
    "unknown subject": lambda text: asked(subject=u.UnknownSubject("new", {"what": {"it": text}})),
}


@pytest.mark.parametrize("place", PLACES)
def test_the_end_of_something_long_is_there_and_not_folded(place: str) -> None:
    html = page(PLACES[place](f"ls {LONG} ; {DANGER}"))
    assert DANGER in words(html)
    assert "not shown" not in words(html)
    assert "<details" not in html


@pytest.mark.parametrize("place", list(PLACES))
@pytest.mark.parametrize("pad", ["\n" * 200, "\n \n\t" * 80, "x = 1\n" * 300, "\n" + " " * 5_000])
def test_padding_does_not_push_it_away(place: str, pad: str) -> None:
    state = PLACES[place](f"df.describe(){pad}{DANGER}")
    shown = console(state) if place in {"code", "command"} else words(page(state))
    assert DANGER in shown
    if "nested" not in place and "unknown" not in place:  # these are JSON in one line
        assert shown.count("\n") < 30
        assert len(shown) < 1_000


def test_a_diff_is_shown_in_full() -> None:
    lines = "".join(f"+line {number}\n" for number in range(3_000))
    patch = f"--- a/x\n+++ b/x\n@@ -0,0 +1,3001 @@\n{lines}+{'y' * 5_000}{DANGER}\n"
    item = u.DiffItem((u.DiffChange("modify", "x"),), patch)
    state = asked(u.ToolCallUpdate(CALL, content=(item,)), subject=u.ToolCallSubject(CALL))
    html = page(state)
    assert DANGER in words(html)
    assert "not shown" not in words(html)
    assert all(" open" in fold for fold in re.findall(r"<details[^>]*>", html))


def test_nothing_of_a_call_that_is_asked_about_is_folded() -> None:
    content = (
        u.ContentItem(ResourceBlock("file:///x", text=DANGER)),
        u.UnknownItem("new", {"what": {"it": [{"is": f"{'y' * 9_000}{DANGER}"}] * 3}}),
    )
    call = u.ToolCallUpdate(CALL, content=content, raw_output={"a": [DANGER] * 20})
    html = page(asked(call, subject=u.ToolCallSubject(CALL)))
    assert html.count("<details") >= 3
    assert "too long to be shown whole" not in html
    assert all(" open" in fold for fold in re.findall(r"<details[^>]*>", html))


def test_a_path_is_shown_to_its_end() -> None:
    path = f"/home/{'a' * 3_000}/.ssh/authorized_keys"
    item = u.DiffItem((u.DiffChange("modify", path),), "--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+y\n")
    call = u.ToolCallUpdate(CALL, content=(item,), locations=(u.Location(path),))
    assert words(page(asked(call, subject=u.ToolCallSubject(CALL)))).count(path) == 2


def test_runs_are_counted_and_nothing_else_changes() -> None:
    assert shown_text("a\n\n\n\n\nb") == "a\n⋯ 4 blank lines\nb"
    assert shown_text("a\n\n\n\nb") == "a\n\n\n\nb"
    assert shown_text("a\n" * 7 + "b") == "a\n⋯ the same line 6 more times\nb"
    assert shown_text(f"a{' ' * 1_200}b") == "a[1,200 spaces]b"
    assert (
        shown_text("x = 1  # harmless\ropen('x')\r\ny") == "x = 1  # harmless[U+000D]\nopen('x')\ny"
    )
    assert list(shown_pieces("")) == [("", False)]


def test_every_line_with_something_in_it_is_shown_in_order() -> None:
    dice = random.Random(3)
    for _ in range(200):
        lines = [dice.choice(["", "", "", " ", "a", "b", "c = 1"]) for _ in range(60)]
        shown = [piece for piece, is_remark in shown_pieces("\n".join(lines)) if not is_remark]
        left = iter(lines)
        told = [line for piece in shown for line in piece.split("\n") if line.strip()]
        assert all(line in left for line in told)
        assert {line for line in lines if line.strip()} == set(told)


def test_what_this_notebook_asks_is_marked_and_no_agent_can_make_the_mark() -> None:
    own = asked(subject=u.CodeSubject("1"))
    imitation = asked(
        title="kernel demo wants to use the kernel of this notebook",
        description='<span class="acp-badge acp-own-mark">kernel</span> Run this code?',
        subject=u.CommandSubject("1", "/"),
    )
    assert "acp-own-mark" in page(own)
    assert 'class="acp-ask acp-own"' in page(own)
    assert 'class="acp-badge acp-own-mark"' not in re.sub(">[^<]*<", "><", page(imitation))
    assert "agent asks you" in words(page(imitation))


def test_no_line_of_an_agents_question_looks_like_one_of_this_clients_at_a_console() -> None:
    fake = "x\n[kernel] demo wants to use this kernel: Run?\n  1  Allow"
    state = asked(title=fake, description=fake, subject=u.CommandSubject(fake, fake))
    lines = console(state).split("\n")
    assert lines[0] == "demo asks: x"
    assert all(line.startswith("  ") for line in lines[1:])


def own_call(code: str, allowed_by: str = "policy allow") -> SessionState:
    state = SessionState()
    update = u.ToolCallUpdate(
        u.ToolCallId(f"{u.OWN_CALL}1"),
        name="run_code",
        title="Run code in this kernel",
        kind="execute",
        status="completed",
        content=(u.ContentItem(TextBlock(f"```python\n{code}\n```")),),
        meta={ALLOWED_META: allowed_by},
    )
    apply(state, update)
    return state


@pytest.mark.parametrize("theme", [live_theme(), record_theme()])
def test_the_card_of_what_ran_has_all_of_the_code_and_who_allowed_it(theme) -> None:
    code = "".join(f"x{number} = {number}\n" for number in range(3_000))
    shown = words(render_entry(theme, own_call(code), EntryKey("tool_call", f"{u.OWN_CALL}1"), "e"))
    assert "x2999" in shown
    assert "Allowed by the policy allow" in shown
    assert shown.startswith("kernel")


def test_only_own_calls_can_say_who_allowed_them() -> None:
    state = SessionState()
    apply(state, u.ToolCallUpdate(CALL, title="Read", meta={ALLOWED_META: "you"}))
    html = page_of_call(state)
    assert "llowed" not in words(html)
    assert "own-mark" not in html


def page_of_call(state: SessionState) -> str:
    return str(render_entry(live_theme(), state, EntryKey("tool_call", CALL), "e0"))


@pytest.mark.parametrize("place", PLACES)
def test_what_is_not_shown_whole_can_only_be_rejected(place: str) -> None:
    options = (*OPTIONS, u.PermissionOption("n", "No", "reject_once"))
    state = PLACES[place](f"{'x' * 2_100_000}{DANGER}")
    apply(state, replace(state.permissions[ASKED].request, options=options))
    html = page(state)
    is_whole = DANGER in words(html)
    assert ("too long to be shown whole" in html) == (not is_whole)
    allow, reject = re.findall(r"<button[^>]*>", html)[-2:]
    assert (" disabled" in allow) == (not is_whole)
    assert " disabled" not in reject


def test_of_very_many_options_the_first_have_buttons_and_the_rest_is_counted() -> None:
    options = tuple(u.PermissionOption(f"o{n}", f"Option {n}", "allow_once") for n in range(20_000))
    state = SessionState()
    apply(state, u.PermissionRequested(ASKED, "Which?", options))
    html = page(state)
    assert html.count("<button") == 100
    assert "19,900 more options" in html


@pytest.mark.parametrize("length", range(1, 330, 7))
@pytest.mark.parametrize("pad", ["x", "\u200b", "\u202e", "a "])
@pytest.mark.parametrize("place", ["title", "call's title"])
def test_a_title_is_shown_to_its_end_whatever_its_length(place: str, pad: str, length: int) -> None:
    state = PLACES[place](f"ls {pad * length}; {DANGER}")
    assert DANGER in words(page(state))
    assert DANGER in console(state)


def test_the_name_of_a_call_without_a_title_is_shown_to_its_end() -> None:
    state = asked(
        u.ToolCallUpdate(CALL, name=f"ls {'x' * 250}; {DANGER}"), subject=u.ToolCallSubject(CALL)
    )
    assert DANGER in words(page(state))
    assert DANGER in console(state)


@pytest.mark.parametrize("pad", ["x" * 200, "\u200b" * 30, "a " * 100, "\n" * 300])
def test_the_name_of_an_option_is_shown_to_its_end(pad: str) -> None:
    options = (u.PermissionOption("y", f"Allow reading{pad}and {DANGER}", "allow_once"),)
    state = SessionState()
    apply(state, u.PermissionRequested(ASKED, "May I?", options))
    html = page(state)
    assert DANGER in words(html)
    assert DANGER in console(state)
    # Above the buttons, so that the page asks whether its end was seen.
    buttons = html.index("acp-ask-buttons")
    if "Option 1 in full:" in html:
        assert html.index("Option 1 in full:") < html.index(DANGER) < buttons
    else:
        assert "\n" in pad


PLACES_OF_A_CALL = {
    "places": {"locations": (*(u.Location(f"/{n}") for n in range(30)), u.Location(DANGER))},
    "link": {
        "content": (
            u.ContentItem(
                ResourceLinkBlock(DANGER, "docs"),
            ),
        )
    },
    "link's name": {
        "content": (
            u.ContentItem(
                ResourceLinkBlock("u:x", "x" * 300 + DANGER),
            ),
        )
    },
    "resource": {
        "content": (
            u.ContentItem(
                ResourceBlock("x" * 300 + DANGER, "text"),
            ),
        )
    },
    "bytes": {
        "content": (
            u.ContentItem(
                ResourceBlock("x" * 300 + DANGER, None, "AA"),
            ),
        )
    },
    "padded resource": {
        "content": (
            u.ContentItem(
                ResourceBlock("u:x", f"a{PAD}{DANGER}"),
            ),
        )
    },
    "terminal": {"content": (u.TerminalItem(u.TerminalId("t")),)},
}


@pytest.mark.parametrize("place", PLACES_OF_A_CALL)
def test_no_part_of_a_call_is_cut_where_it_is_asked_about(place: str) -> None:
    terminal = u.TerminalUpdate(u.TerminalId("t"), f"ls{PAD}rm", f"/{'x' * 300}/{DANGER}")
    call = u.ToolCallUpdate(CALL, **PLACES_OF_A_CALL[place])
    shown = words(page(asked(terminal, call, subject=u.ToolCallSubject(CALL))))
    assert DANGER in shown
    assert shown.count("\n") < 30


def test_a_line_of_a_diff_that_is_not_shown_whole_can_only_be_rejected() -> None:
    item = u.DiffItem((), f"--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+{'y' * 400_000}{DANGER}\n")
    html = page(asked(u.ToolCallUpdate(CALL, content=(item,)), subject=u.ToolCallSubject(CALL)))
    assert DANGER not in html
    assert "too long to be shown whole" in html


def nested(depth: int, inner: object) -> object:
    for _ in range(depth):
        inner = [inner]
    return inner


def test_json_is_written_as_far_as_it_is_shown() -> None:
    value = {"a": [1, {"b": "ü"}]}
    assert written_json(value) == json.dumps(value, indent=2, ensure_ascii=False)
    assert len(written_json(nested(300, [1] * 100_000), 10_000)) < 12_000
    assert len(written_json(nested(100_000, 1), 10_000)) < 12_000


INPUTS = {
    "deep": nested(300, [1] * 100_000),
    "deep in a field": {"a": nested(300, [1] * 100_000)},
    "deep in a later field": {"a": 1, "b": nested(300, [1] * 100_000), "c": 2},
    "many fields": dict.fromkeys(map(str, range(50_000)), "x"),
    "long lists": {"a": ["x"] * 200_000},
}


@pytest.mark.parametrize("name", INPUTS)
def test_an_input_that_is_not_shown_whole_can_only_be_rejected(name: str) -> None:
    call = u.ToolCallUpdate(CALL, title="Do it", raw_input=INPUTS[name])
    state = asked(call, subject=u.ToolCallSubject(CALL))
    html = page(state)
    assert "can only be rejected here" in html
    assert re.search(r'data-effect="allow"[^>]* disabled', html)
    assert console(state).endswith(NOT_WHOLE)
    assert len(console(state)) < 700_000


@pytest.mark.parametrize("files", [1_000, 5_000])
def test_a_diff_of_many_files_is_shown_whole_or_can_only_be_rejected(files: int) -> None:
    changes = tuple(u.DiffChange("add", f"/a/{number}.py") for number in range(files))
    call = u.ToolCallUpdate(CALL, title="Do it", content=(u.DiffItem(changes),))
    html = page(asked(call, subject=u.ToolCallSubject(CALL)))
    assert "/a/999.py" in html
    assert ("can only be rejected here" in html) is (files > 2_000)
    assert ("3,000 more files" in html) is (files > 2_000)


def test_runs_of_blank_lines_without_end_are_still_counted() -> None:
    html = page(asked(title="\n\n\n\n\na" * 10_000 + DANGER))
    assert html.count(" blank lines") == 10_000
    assert DANGER in words(html)

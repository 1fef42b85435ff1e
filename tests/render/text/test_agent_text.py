"""An agent's text beside ours: code is marked, nothing looks like a line of ours, in any pieces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_notebook.render.record import record_bundle
from acp_notebook.render.text.agent_text import AgentText, beside_ours
from acp_notebook.session import updates as u
from acp_notebook.session.content import TextBlock
from acp_notebook.session.reducer import apply
from acp_notebook.session.state import ALLOWED_META, SessionState

HIDDEN = "A\u202eB\U000e0101C\u3164D"
MARKED = "A[U+202E]B[U+E0101]C[U+3164]D"


def shown(*pieces: str, is_beside_ours: bool = True) -> str:
    text = AgentText(is_beside_ours=is_beside_ours)
    return "".join(map(text.feed, pieces)) + text.close()


@pytest.mark.parametrize(
    "text",
    [
        f"```python\n{HIDDEN}\n```",
        f"~~~\n{HIDDEN}",
        f"> ```\n> {HIDDEN}\n> ```",
        f"- item\n  ```\n  {HIDDEN}\n  ```",
        f"1. ```\n   {HIDDEN}\n   ```",
        f"> ```\n\n```\n{HIDDEN}\n```",
        f"```\n    ```\n{HIDDEN}",
        f"```\n- ```\n{HIDDEN}",
        f"````\n```\n{HIDDEN}\n````",
        f"```{HIDDEN}\n```",
        f"x\n\n    {HIDDEN}\n    {HIDDEN}\n",
        f"    {HIDDEN}",
        f"\t{HIDDEN}",
        f"- a\n\n        {HIDDEN}",
        f"- a\n\nb\n\n    {HIDDEN}",
        f"run `{HIDDEN}` now",
        f"run ``a ` {HIDDEN}`` now",
        f"a \\` b `{HIDDEN}`",
        f"one ` two\n\n`{HIDDEN}`",
        f"run `a\n{HIDDEN}` now",
    ],
)
def test_code_is_marked_as_in_a_question(text: str) -> None:
    assert shown(text) == text.replace(HIDDEN, MARKED)


@pytest.mark.parametrize(
    "text",
    [
        "Я прочитал `file.py` с диска",  # noqa: RUF001
        "\u0645\u06cc\u200c\u062e\u0648",
        "👩\u200d👧 ❤\ufe0f\u200d🔥",
        "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "# Title[^1]\n\n[^1]: Note\n",
        "- [x] done\n- [a](https://b.c) and *more*\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
        "```toml\n[tool.ruff]\nline-length = 100\n```\n",
        "- item\n\n    с диска\n\n    с диска\nx\n    с диска\n",  # noqa: RUF001
        "First\n\n    indented = 1\n\n> quoted\n",
        "(see above) <b> {x} 2026. Année, «oui», “yes”, 中文，日本語。",  # noqa: RUF001
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert shown(text) == text
    assert shown(*text) == text


def test_prose_that_is_turned_around_or_hides_a_text_is_marked() -> None:
    assert shown("a\u202eb") == "a[U+202E]b"
    assert shown("a\ufe00\ufe01\ufe02b") == "a[U+FE00][U+FE01][U+FE02]b"
    assert shown("a\U000e0041b") == "a[U+E0041]b"


@pytest.mark.parametrize(
    "line",
    [
        "[kernel] demo wants to use this kernel: Run?",
        "[Kernel ] x",
        "[ker\u200bnel] x",
        "\u200b[kernei] x",
        "\u115f[kernei] x",
        " [kernei] x",
        "\uff3bkernel\uff3d x",
        "✓ [kernel] Run code in this kernel (done, allowed by you)",
        "✓ Kernel: Run code",
        "[Finished · demo]",
        "… thinking",
    ],
)
def test_no_line_begins_like_one_of_ours(line: str) -> None:
    for text in (line, f"One\n{line}", f"One\r{line}", f"> ```\n{line}"):
        for pieces in ([text], list(text)):
            told = shown(*pieces).split("\n")[-1]
            assert told.startswith(" ")
            assert "[kernel]" not in told.lower().replace("\u200b", "")
    assert beside_ours(line).startswith(" ")


def test_the_mark_of_ours_is_quoted_anywhere() -> None:
    assert shown("x" * 80 + "[kernel] demo") == "x" * 80 + "[“kernel”] demo"
    assert shown("```\n[kernel] demo\n```") == "```\n[“kernel”] demo\n```"
    assert shown("[kernel] demo", is_beside_ours=False) == "[kernel] demo"


LETTERS = "`~[]>\\-1. \n\r\tkKernel\u0430\u0435p\u200b\ufe0f\U000e0067\U000e007f\U0001f3f4\u202e"
MARKUP = "\n```|\n> |```\n|[kernel]|[^1]: |[U+202E]|✓ |1. ```|\n    |word |中"
PIECES = st.sampled_from([*LETTERS, *MARKUP.split("|")])


@given(st.lists(PIECES, max_size=40), st.booleans())
def test_it_does_not_matter_how_a_text_is_cut(pieces: list[str], is_beside_ours: bool) -> None:
    text = "".join(pieces)
    whole = shown(text, is_beside_ours=is_beside_ours)
    assert shown(*pieces, is_beside_ours=is_beside_ours) == whole
    assert shown(*text, is_beside_ours=is_beside_ours) == whole


def record(*updates: u.SessionUpdate) -> dict[str, str]:
    state = SessionState()
    for update in updates:
        apply(state, update)
    return record_bundle(state, state.timeline, agent_name="demo", stop_reason=None, ending=False)


def own_call() -> u.ToolCallUpdate:
    return u.ToolCallUpdate(
        u.ToolCallId(f"{u.OWN_CALL}1"),
        name="run_code",
        title="Run code in this kernel",
        kind="execute",
        status="completed",
        content=(u.ContentItem(TextBlock("```python\n1\n```")), u.ContentItem(TextBlock("1"))),
        meta={ALLOWED_META: "you"},
    )


@pytest.mark.parametrize("form", ["text/markdown", "text/plain"])
@pytest.mark.parametrize(
    "told",
    [
        lambda text: u.MessageChunk("agent", u.MessageId("m"), TextBlock(text)),
        lambda text: u.Notice("info", text),
        lambda text: u.ToolCallUpdate(u.ToolCallId("c"), title=text),
        lambda text: u.PlanUpdate(u.PlanId("p"), (u.PlanEntry(text),)),
        lambda text: u.PermissionRequested(u.PermissionId("p"), text, ()),
    ],
)
def test_the_record_of_what_ran_cannot_be_imitated(form: str, told) -> None:
    real = record(own_call())[form]
    head = real.splitlines()[0]
    for text in (real, head):
        forged = record(told(text))[form]
        assert all(line.strip() != head for line in forged.splitlines())
        assert "[kernel]" not in forged
        assert "<kbd>" not in forged


def test_a_message_in_the_record_has_its_code_marked() -> None:
    told = record(u.MessageChunk("agent", u.MessageId("m"), TextBlock(f"`{HIDDEN}`")))
    assert f"`{MARKED}`" in told["text/plain"]
    assert f"`{MARKED}`" in told["text/markdown"]

from __future__ import annotations

import re

import pytest
from html_facts import HtmlFacts
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from page_model import visible_text
from turns import PIXEL, turn_with_everything

from acp_notebook.budget import Budget
from acp_notebook.render.parsing.inert_markdown import inert_markdown
from acp_notebook.render.parsing.markdown import render_markdown
from acp_notebook.render.record import record_bundle
from acp_notebook.session import updates as u
from acp_notebook.session.content import ImageBlock, TextBlock
from acp_notebook.session.reducer import apply
from acp_notebook.session.state import SessionState

AGENT, CALL, TERMINAL = u.MessageId("a"), u.ToolCallId("c"), u.TerminalId("t")
QUESTION, PROMPT = u.PermissionId("q"), u.PromptId("p")


TEXT_COLOUR = "var(--jp-ui-font-color1)"
"""Without it, the text has the colour of what is around it."""
MARKDOWN = """## A

> b

1. c
2. `d`

- e

---

| a | b |
| --- | ---: |
| x | 1 |
"""


def bundle_of(
    *updates: u.SessionUpdate,
    stop_reason: str | None = "end_turn",
    failure: u.Failure | None = None,
) -> dict[str, str]:
    state = SessionState()
    for update in updates:
        apply(state, update)
    return record_bundle(
        state,
        state.timeline,
        agent_name="demo",
        stop_reason=stop_reason,
        failure=failure,
        elapsed_s=3.21,
    )


def say(text: str) -> u.MessageChunk:
    return u.MessageChunk("agent", AGENT, TextBlock(text))


STORY: tuple[u.SessionUpdate, ...] = (
    u.PromptSent(PROMPT, (TextBlock("Mend *it*"),)),
    u.StateUpdate("running"),
    u.MessageChunk("thought", u.MessageId("t"), TextBlock("Look first.")),
    u.PlanUpdate(u.PlanId("x"), (u.PlanEntry("look", status="completed"), u.PlanEntry("mend"))),
    u.ToolCallUpdate(
        CALL,
        title="Edit a.py",
        kind="edit",
        status="completed",
        content=(u.DiffItem((u.DiffChange("modify", "a.py"),), old_text="x", new_text="y"),),
    ),
    u.PermissionRequested(QUESTION, "Run?", (u.PermissionOption("y", "Yes", "allow_once"),)),
    u.PermissionSettled(QUESTION, "y", "you"),
    say("Done:\n\n```python\nx = 1\n```\n"),
    u.UsageUpdate(50, 200, u.Cost(0.5, "USD")),
    u.StateUpdate("idle", "end_turn"),
)


def test_plain_text_of_a_turn() -> None:
    assert bundle_of(*STORY)["text/plain"] == (
        "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} Mend *it*\n\n"
        "  ✓ look\n"
        "  ○ mend\n\n"
        "✓ Edit: Edit a.py (done)\n"
        "    a.py (changed)\n\n"
        "Run?: Allowed once · by you\n\n"
        "Done:\n\n```python\nx = 1\n```\n\n"
        "[Finished · demo · 3.2 s · 50 of 200 tokens (25%) · $0.50]"
    )


def test_markdown_of_a_turn() -> None:
    assert bundle_of(*STORY)["text/markdown"] == (
        "> \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} Mend \\*it\\*\n\n"
        "<details><summary>Thought</summary>\n\nLook first.\n\n</details>\n\n"
        "- [x] look\n- [ ] mend\n\n"
        "> **Edit** Edit a.py — done\n\n"
        "<details><summary>Changes</summary>\n\n"
        "```diff\n@@ -1 +1 @@\n-x\n+y\n```\n\n</details>\n\n"
        "> Run?: Allowed once · by you\n\n"
        "Done:\n\n```python\nx = 1\n```\n\n"
        "*Finished · demo · 3.2 s · 50 of 200 tokens (25%) · \\$0.50*\n"
    )


def test_html_of_a_turn_says_the_same() -> None:
    html = bundle_of(*STORY)["text/html"]
    text = " ".join(visible_text(html).split())
    for part in ("Mend *it*", "Thought", "1 of 2 done", "Edit a.py", "Allowed once", "by you"):
        assert part in text
    assert text.startswith("demo ✓ Finished 3.2 s 25% of context · $ 0.50 ")


def test_html_relies_on_inline_styles_alone() -> None:
    facts = HtmlFacts(bundle_of(*STORY)["text/html"])
    assert {"script", "style", "link", "button", "input"}.isdisjoint(facts.tags)
    classes = {value for _, name, value in facts.attributes if name == "class"}
    assert not any(name.startswith("acp-") for name in classes)
    styles = " ".join(value for _, name, value in facts.attributes if name == "style")
    # JupyterLab's sanitizer drops these values, and then the declaration.
    assert not re.search(r"calc\(|light-dark|currentColor|rgb\([^,]*\)|inherit", styles)


def test_what_only_a_trusted_notebook_keeps_has_a_plain_value_before_it() -> None:
    facts = HtmlFacts(bundle_of(*turn_with_everything(), say(MARKDOWN))["text/html"])
    for style in {value for _, name, value in facts.attributes if name == "style"}:
        seen: set[str] = set()
        for declaration in style.split(";"):
            name, _, value = declaration.partition(":")
            is_plain = "var(" not in value or name.endswith("-color") or value == TEXT_COLOUR
            assert is_plain or name in seen, style
            seen.add(name)


def test_the_records_markdown_is_dressed_tag_by_tag() -> None:
    html = bundle_of(say(MARKDOWN))["text/html"]
    for tag in ("h2", "p", "ul", "ol", "table", "tr", "th", "td", "blockquote", "hr", "code"):
        assert f"<{tag} style=" in html or f"<{tag} start=" in html, tag
    assert html.count("text-align:right") == 2
    assert re.search(r'<td style="[^"]*text-align:left[^"]*;text-align:right">1</td>', html)


def test_dressing_adds_nothing_inside_of_an_attribute() -> None:
    html = bundle_of(say('[x](javascript:"<p>" "<p>")\n\n[y](<a:<p>>)\n'))["text/html"]
    facts = HtmlFacts(html)
    assert facts.dangers == []
    assert all("style=" not in value for _, _, value in facts.attributes)


def test_a_plan_that_is_done_is_one_line_and_any_other_is_open() -> None:
    steps = (u.PlanEntry("look", status="completed"), u.PlanEntry("drop", status="cancelled"))
    done = bundle_of(u.PlanUpdate(u.PlanId("x"), steps))["text/html"]
    assert "1 of 1 done" in done
    assert not re.search(r"<details[^>]* open", done)
    steps += (u.PlanEntry("mend"),)
    assert re.search(
        r"<details[^>]* open", bundle_of(u.PlanUpdate(u.PlanId("x"), steps))["text/html"]
    )


def test_an_answered_question_is_a_line_that_unfolds_to_what_was_asked() -> None:
    option = u.PermissionOption("y", "Yes", "allow_once")
    asked = u.PermissionRequested(
        QUESTION, "Run `make`?", (option,), None, u.CommandSubject("make all", "/tmp")
    )
    text = " ".join(
        visible_text(bundle_of(asked, u.PermissionSettled(QUESTION, "y", "you"))["text/html"])
        .split()
    )  # fmt: skip
    assert "✓ Allowed once · by you · Run make ? Answer: Yes make all in /tmp" in text


def test_what_ended_an_agent_is_told_once() -> None:
    reason = "The agent demo ended with exit code 3. Your next prompt starts it again."
    bundle = bundle_of(
        u.PromptSent(PROMPT, (TextBlock("x"),)),
        u.AgentLost(reason, "boom"),
        failure=u.Failure(reason),
    )
    assert visible_text(bundle["text/html"]).count("exit code 3") == 1
    assert bundle["text/html"].count("starts it again") == 1
    assert bundle["text/markdown"].count("exit code 3") == 1
    assert bundle["text/plain"].count("exit code 3") == 1


def test_a_queued_prompt_and_an_open_question_have_no_buttons() -> None:
    bundle = bundle_of(
        u.PromptQueued(PROMPT, (TextBlock("later"),)),
        u.PermissionRequested(QUESTION, "Run?", (u.PermissionOption("y", "Yes", "allow_once"),)),
    )
    assert "queued" in bundle["text/html"]
    assert "It waits for your answer" in bundle["text/html"]
    assert "<button" not in bundle["text/html"]


def test_what_is_too_long_is_left_out_and_said() -> None:
    image = ImageBlock("A" * 2_000_000, "image/png")
    bundle = bundle_of(
        u.ToolCallUpdate(CALL, content=(u.ContentItem(TextBlock("x" * 50_000)),)),
        u.TerminalChunk(TERMINAL, b"line\n" * 1_000),
        u.MessageChunk("agent", AGENT, image),
    )
    html = bundle["text/html"]
    assert len(html) < 100_000
    assert "Left out to keep the notebook small: 30,000 characters; 800 earlier lines" in html
    assert "an image (1.5 MB)" in html
    assert "Image not kept here: image/png, 1.5 MB" in html


def test_small_images_are_kept_up_to_a_total() -> None:
    data = PIXEL[:-4] + "A" * 1_399_904 + "AAAA"
    image = ImageBlock(data, "image/png")
    bundle = bundle_of(*(u.MessageChunk("agent", AGENT, image) for _ in range(5)))
    assert bundle["text/html"].count("<img ") == 2
    assert "and 3 more" not in bundle["text/html"]


def test_ten_thousand_tool_calls_stay_within_the_limit() -> None:
    calls = [
        u.ToolCallUpdate(
            u.ToolCallId(str(number)),
            title=f"Call {number}",
            status="completed",
            content=(u.ContentItem(TextBlock("word " * 100)),),
        )
        for number in range(10_000)
    ]
    bundle = bundle_of(*calls)
    assert len(bundle["text/html"]) < 1_000_000
    assert len(bundle["text/markdown"]) < 700_000
    assert len(bundle["text/plain"]) < 700_000
    assert "Call 0<" in bundle["text/html"]
    assert "✓ Call 9999<" in bundle["text/html"]
    assert "details of" in bundle["text/html"]
    assert "turn.tool_calls" in bundle["text/html"]
    assert "turn.tool_calls" in bundle["text/markdown"]


def test_an_output_of_ten_megabytes_is_cut_and_said() -> None:
    long = "0123456789\n" * 1_000_000
    bundle = bundle_of(
        u.ToolCallUpdate(CALL, content=(u.ContentItem(TextBlock(long)),), raw_output={"log": long})
    )
    assert sum(map(len, bundle.values())) < 100_000
    assert "characters" in bundle["text/html"]


def test_a_conversation_that_is_told_again_ends_with_nothing() -> None:
    state = SessionState()
    apply(state, say("Hello."))
    bundle = record_bundle(state, state.timeline, agent_name="demo", stop_reason=None, ending=False)
    for text in bundle.values():
        assert "Hello." in text
        assert "Ended" not in text


def test_a_formula_is_left_to_jupyter_and_a_price_is_not() -> None:
    html = bundle_of(say("It is $x^2$, for $5 or $6."))["text/html"]
    assert '<span class="acp-tex">$x^2$</span>' in html
    assert "<span>$</span>5 or <span>$</span>6" in html


def test_an_entry_that_is_gone_is_skipped() -> None:
    state = SessionState()
    apply(state, u.PlanUpdate(u.PlanId("x"), ()))
    keys = list(state.timeline)
    apply(state, u.PlanRemoved(u.PlanId("x")))
    bundle = record_bundle(state, keys, agent_name="demo", stop_reason=None)
    assert "Ended without saying why" in bundle["text/plain"]


@pytest.mark.requirement("MSG-1")
def test_a_message_in_chunks_reads_as_one() -> None:
    assert "**bold**" in bundle_of(say("**bo"), say("ld**"))["text/markdown"]
    assert "<strong>bold</strong>" in bundle_of(say("**bo"), say("ld**"))["text/html"]


def test_a_fence_left_open_does_not_swallow_the_rest() -> None:
    markdown = bundle_of(say("```python\nx = 1"))["text/markdown"]
    html = MarkdownIt().render(markdown)
    assert "<em>Finished" in html


@given(
    st.lists(
        st.sampled_from(
            ["<script>", "<b x=1>", "</b>", "<!--", "`", "``", "\\", "\n", "\n\n", "```\n", "~~~\n",
             "    ", "- ", "> ", "a", "| x | y |\n|--|--|\n", "| ", "<http://x.org>", "*", "[x](y)",
             "[", "]", "<a", ">", "&lt;", "    <i>\n", "# ", "---\n"]
        ),
        max_size=25,
    ).map("".join)
)  # fmt: skip
@settings(max_examples=500, deadline=None)
@example("`<b>`")
@example("\\``<script>`<script>`")
@example("\\`<b>`")
@example("| `a | <b>` |\n|--|--|\n| `x | <b>` |")
@example("- `a\n\n  <b>`")
def test_no_reader_of_the_markdown_finds_a_tag_in_it(text: str) -> None:
    made = MarkdownIt("commonmark", {"html": True}).enable(["table"]).parse(inert_markdown(text))
    kinds = [token.type for token in made]
    kinds += [child.type for token in made for child in token.children or ()]
    assert "html_block" not in kinds
    assert "html_inline" not in kinds


def test_inert_markdown_keeps_code_as_it_is() -> None:
    text = "a <b> `<c>`\n\n```html\n<d>\n```\n"
    assert inert_markdown(text) == "a &lt;b> `<c>`\n\n```html\n<d>\n```\n"
    # A lexer that is loaded now takes time too.
    inert, html = (
        render_markdown(each, budget=Budget(60)) for each in (inert_markdown(text), text)
    )
    assert inert == html

from __future__ import annotations

import time

import pytest
from html_facts import HtmlFacts

from acp_notebook.budget import Budget
from acp_notebook.render.parsing.markdown import INLINE_LIMIT_CHARS, is_safe_link, render_markdown

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
)


def test_tables_strikethrough_and_task_lists_are_understood() -> None:
    html = render_markdown("| a |\n|---|\n| ~~b~~ |\n\n- [x] c\n- [ ] d")
    facts = HtmlFacts(html)
    assert {"table", "s", "ul"} <= set(facts.tags)
    assert ("span", "aria-label", "done") in facts.attributes
    assert ("span", "aria-label", "to do") in facts.attributes
    assert "input" not in facts.tags


def test_a_table_column_keeps_its_alignment() -> None:
    html = render_markdown("| a | b |\n|--:|:-:|\n| 1 | 2 |")
    assert 'style="text-align:right"' in html
    assert 'style="text-align:center"' in html


def test_raw_html_is_text() -> None:
    facts = HtmlFacts(render_markdown("<script>alert(1)</script>\n\n<b onclick=x>hi</b>"))
    assert facts.tags == ["p", "p"]
    assert "<script>alert(1)</script>" in "".join(facts.texts)


def test_a_link_opens_outside_and_tells_nothing() -> None:
    html = render_markdown("[x](https://example.org/?a=1&b=2)")
    assert 'href="https://example.org/?a=1&amp;b=2"' in html
    assert 'target="_blank"' in html
    assert 'rel="noopener noreferrer"' in html


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        "vbscript:x",
        "file:///etc/passwd",
        "src/a.py",
        "//example.org/x",
        "\x01javascript:alert(1)",
        "java\tscript:alert(1)",
    ],
)
def test_any_other_address_is_no_link(address: str) -> None:
    assert not is_safe_link(address)
    for text in (f"[x]({address})", f"[x](<{address}>)", f"<{address}>", f"[x]\n\n[x]: {address}"):
        facts = HtmlFacts(render_markdown(text))
        assert "a" not in facts.tags
        assert facts.dangers == []


def test_a_remote_image_is_a_link_and_fetches_nothing() -> None:
    facts = HtmlFacts(render_markdown("![chart](https://example.org/c.png)"))
    assert "img" not in facts.tags
    assert ("a", "href", "https://example.org/c.png") in facts.attributes
    assert "image: chart" in facts.texts


def test_an_image_inside_a_link_leaves_one_link() -> None:
    facts = HtmlFacts(render_markdown("[![alt](https://a.org/i.png)](https://b.org)"))
    assert facts.tags.count("a") == 1
    assert "alt" in facts.texts


def test_a_data_image_is_shown_and_a_data_svg_is_not() -> None:
    shown = HtmlFacts(render_markdown(f"![p](data:image/png;base64,{PIXEL})"))
    assert "img" in shown.tags
    hidden = HtmlFacts(render_markdown(f"![p](data:image/svg+xml;base64,{PIXEL})"))
    assert "img" not in hidden.tags
    assert hidden.dangers == []


def test_code_is_highlighted_by_language_and_plain_without() -> None:
    assert '<span class="k">' in render_markdown("```python\ndef f(): pass\n```")
    assert "<span" not in render_markdown("```no-such-language\ndef f(): pass\n```")
    assert "<span" not in render_markdown("```\ndef f(): pass\n```")


def test_code_keeps_its_text_exactly() -> None:
    code = "\n\nif a < b & c:\n\treturn '</code>'\n\n"
    facts = HtmlFacts(render_markdown(f"```python\n{code}\n```"))
    assert "".join(facts.texts).strip("\n") == code.strip("\n")
    assert facts.dangers == []


def test_a_paragraph_beyond_the_limit_is_shown_as_it_is() -> None:
    text = "*a _b [c](" * (INLINE_LIMIT_CHARS // 5)
    assert HtmlFacts(render_markdown(text)).texts[0] == text


def test_lone_surrogates_and_control_characters_are_replaced() -> None:
    html = render_markdown("a\ud800b \x00 \x1b[31m \ud83d\ude00")
    assert html.encode("utf-8")
    assert "\U0001f600" in html
    assert "\x1b" not in html


def test_what_is_too_costly_is_shown_plain_with_the_reason() -> None:
    html = render_markdown("# a\n\n*b*", budget=Budget(0))
    assert "# a\n\n*b*" in html
    assert "shown plain in part: too costly to format" in html
    assert HtmlFacts(render_markdown("<b>", budget=Budget(0))).dangers == []


def test_tasks_are_marked_where_an_item_begins_with_a_box() -> None:
    html = render_markdown("- [X] *a*\n- b\n  - [ ]\tc\n\n1. d\n2. [y] e\n3. [ ]f\n4. > [ ] g")
    assert html.count("acp-task") == 2
    assert html.count("contains-task-list") == 2


def test_a_long_task_list_takes_no_longer_than_its_length() -> None:
    def seconds(items: int) -> float:
        began = time.thread_time()
        html = render_markdown("- [ ] a\n" * items, budget=Budget(60))
        assert html.count("acp-task") == items
        return time.thread_time() - began

    assert seconds(4_000) < 10 * seconds(1_000)

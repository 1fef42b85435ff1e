"""HTML from a file shows what our own renderer could have written, and nothing else."""

from __future__ import annotations

import re

import pytest
from hostile import HOSTILE
from html_facts import HtmlFacts
from hypothesis import example, given
from hypothesis import strategies as st
from turns import turn_with_everything

from acp_notebook.render import styles
from acp_notebook.render.record import record_bundle
from acp_notebook.render.stored_html import stored_html
from acp_notebook.session.reducer import apply
from acp_notebook.session.state import SessionState

ORDINARY = (
    "a $x^2$ **b** `c` costs $5 and $6\n\n```python\nx = 1\n```\n\n| a |\n|--:|\n| 1 |\n\n"
    "- [ ] x\n\n"
    "[^1]\n\n[^1]: z\n\n# h\n\n> q\n\n3. a\n\n---\n\n[l](https://a.org)\n\n$$\n\\sum x\n$$\n"
)
URL = "http://127.0.0.1:1/BEACON"
NAMES = (
    "position top left margin margin-top margin-left transform z-index float inset width height "
    "background background-image list-style-image content cursor filter mask clip-path font "
    "font-size text-indent line-height animation color border-image -webkit-mask-image "
    "display opacity overflow grid-area translate all direction shape-outside"
)
PROPERTIES = st.sampled_from(NAMES.split())
CSS_VALUES = st.sampled_from(
    [
        "fixed", "absolute", "sticky", "-600px", "9999px", "3000em", "100vw", "99999",
        "left", "none",
        f"url({URL})", f"image-set('{URL}' 1x)", f"-webkit-image-set('{URL}' 1x)", "attr(title)",
        f"cross-fade(url({URL}),red)", f"u\\72l({URL})", f"url/**/({URL})", "expression(alert(1))",
        f"@import '{URL}'", "translateY(-500px) scale(9)", "rotate(90deg)", "var(--x)", "red",
        "calc(100vh*9)", "unset", "inherit", "contents", "element(#a)", "env(x)", "0", "!important",
    ]
)  # fmt: skip
DECLARATIONS = st.builds(
    "{}{}{}".format, PROPERTIES, st.sampled_from([":", " : ", ":\t"]), CSS_VALUES
)
STYLES_IN_FILES = st.lists(
    DECLARATIONS | st.sampled_from([*styles.STYLES.values()]) | st.text(max_size=8), max_size=5
).map(";".join)
LOOKS = [styles.STYLES, styles.MARKDOWN, styles.INSIDE, styles.CLASSES]
OWN = {part for look in LOOKS for style in look.values() for part in style.split(";")}


def record_of(word: str) -> str:
    state = SessionState()
    for update in turn_with_everything(word):
        apply(state, update)
    return record_bundle(state, state.timeline, agent_name="a", stop_reason="end_turn")["text/html"]


def shape(html: str) -> tuple[list[object], str]:
    facts = HtmlFacts(html)
    attributes = [each for each in facts.attributes if each[1] != "rel"]
    return [[tag for tag in facts.tags if tag != "span"], sorted(attributes)], "".join(facts.texts)


@pytest.mark.parametrize("word", [ORDINARY, HOSTILE["script"], HOSTILE["formula"]])
def test_our_own_record_passes_unchanged(word: str) -> None:
    record = record_of(word)
    assert shape(str(stored_html(record))) == shape(record)


@given(STYLES_IN_FILES)
@example("height:0")  # of our own
def test_of_a_style_only_our_own_declarations_stay(style: str) -> None:
    escaped = style.replace("&", "&amp;").replace('"', "&quot;")
    kept = [v for _, name, v in HtmlFacts(stored_html(f'<p style="{escaped}">x</p>')).attributes
            if name == "style"]  # fmt: skip
    assert set(";".join(kept).split(";")) - {""} <= OWN


@pytest.mark.parametrize(
    "style",
    [
        f"background-image:image-set('{URL}' 1x)", "margin-top:-600px", "position:fixed",
        "width:101%", "content:attr(title)", "transform:scale(9)", "COLOR:RED", "color:#GGGGGG",
        "margin:0 0 6px 0x",
    ],
)  # fmt: skip
def test_nothing_else_does(style: str) -> None:
    assert stored_html(f'<p style="{style}">x</p>') == "<p>x</p>"


@given(st.from_regex(r"(jp|lm|p|acp|highlight|k|n)?-?[A-Za-z-]{0,20}", fullmatch=True))
def test_of_classes_only_inert_ones_stay(name: str) -> None:
    kept = re.findall('class="([^"]*)"', stored_html(f'<div class="{name} jp-Dialog">x</div>'))
    assert "jp-Dialog" not in "".join(kept)
    assert not re.search(r"jp-|lm-|acp-(button|allow|card|float|root)", " ".join(kept))


def test_a_file_neither_fetches_nor_covers_nor_leads_away() -> None:
    html = "".join(
        stored_html(part)
        for part in (
            "<div class='jp-Dialog lm-Widget acp-button highlight k' data-act=answer id=x>a</div>",
            f"<img src='{URL}'><img src='data:image/svg+xml,<svg onload=alert(1)>'>",
            "<a href='javascript:x' target=_self>l</a><a href='https://a.org' target=_self>m</a>",
            f"<style>*{{background:url({URL})}}</style>",
            f"<link href='{URL}'><base href='{URL}'>",
            f"<iframe src='{URL}'></iframe><video src='{URL}'></video>",
            f"<svg><use href='{URL}'/></svg>",
            f"<form action='{URL}'><input><button>Allow</button></form>",
            f"<table background='{URL}'><tr><td background='{URL}'>t</td></tr></table>",
        )
    )
    facts = HtmlFacts(html)
    assert facts.dangers == []
    assert "BEACON" not in html
    assert {value for _, name, value in facts.attributes if name == "class"} == {"highlight k"}
    assert not {name for _, name, _ in facts.attributes} & {"id", "data-act", "background"}
    assert [value for _, name, value in facts.attributes if name == "href"] == ["https://a.org"]
    assert {value for _, name, value in facts.attributes if name == "target"} == {"_blank"}


@pytest.mark.parametrize(
    "tex",
    [
        r"$$\rule{3000em}{3000em}$$",
        r"\(\href{javascript:x}{y}\)",
        r"\begin{equation}x\end{equation}",
    ],
)
def test_a_file_typesets_only_formulas_that_draw(tex: str) -> None:
    for html in (tex, f'<span class="acp-tex">{tex}</span>', f'<p class="acp-tex">{tex}</p>'):
        shown = str(stored_html(html))
        assert '<span class="acp-tex">' not in shown
        # A delimiter alone in an element begins nothing.
        assert not re.search(r"\$\$|\$[^<]|\\[(]|\\begin", shown)


def test_a_formula_that_draws_stays_one() -> None:
    html = '<span class="acp-tex">$a &lt; b$</span>'
    assert stored_html(html) == html

"""Whatever an agent writes is text: in every field, live and in the record."""

from __future__ import annotations

import pytest
from html_facts import HtmlFacts
from page_model import PageModel
from turns import turn_with_everything

from acp_notebook.render.document import TurnDocument
from acp_notebook.render.record import record_bundle
from acp_notebook.session.reducer import apply
from acp_notebook.session.state import SessionState
from acp_notebook.session.updates import Failure

HOSTILE = {
    "script": "<script>alert(1)</script>",
    "handler": "<img src=x onerror=alert(1)>",
    "broken out of an attribute": '"\' onmouseover=alert(1) x="',
    "broken out of a tag": "</div></details></section><script>alert(1)</script>",
    "javascript link": "[x](javascript:alert(1)) <javascript:alert(1)>",
    "javascript address": "javascript:alert(1)",
    "data link": "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "svg": "<svg onload=alert(1)><animate onbegin=alert(1)>",
    "mathml": "<math><mtext></mtext><mglyph><style><img src onerror=alert(1)>",
    "style": "<style>*{display:none}</style> x;background:url(//evil.org)",
    "comment": "<!--> --!> <![CDATA[ <?php",
    "entity": "&lt;script&gt; &#60;script&#62;",
    "control characters": "a\x00b\x1b]8;;javascript:alert(1)\x07link\x1b[31m",
    "surrogates": "\ud800 \udfff \ud83d",
    "bidi": "abc\u202egnp.exe\u2066\u2069\u200b",
    "template": "{0} {{x}} %s ${x} {.__class__}",
    "slot": '<div data-slot="head"></div> data-act="stop"',
    "fence": "```\n</code></pre><script>\n```",
    "remote image": "![x](https://evil.org/pixel.png)",
    "svg image": "![x](data:image/svg+xml;base64,PHN2Zz4=)",
    "long line": "A" * 20_000,
    "brackets": "[" * 3_000 + "](" * 1_000,
    "nesting": "> " * 300 + "- " * 300 + "x",
}


@pytest.fixture(params=HOSTILE.values(), ids=HOSTILE.keys())
def word(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_the_live_view_is_safe(word: str) -> None:
    state = SessionState()
    document = TurnDocument(state, agent_name=word)
    page = PageModel()
    for update in turn_with_everything(word):
        document.note(apply(state, update))
        page.obey(document.ops())
        for html in page.html.values():
            assert HtmlFacts(html).dangers == []
    document.finish(word, Failure(word), 1.0)
    page.obey(document.ops())
    for html in page.html.values():
        assert HtmlFacts(html).dangers == []


def test_only_our_own_buttons_are_buttons(word: str) -> None:
    state = SessionState()
    document = TurnDocument(state, agent_name=word)
    document.note(c for update in turn_with_everything(word)[:-1] for c in apply(state, update))
    page = PageModel().obey(document.ops())
    facts = HtmlFacts("".join(page.html.values()))
    acts = [value for _, name, value in facts.attributes if name == "data-act"]
    assert sorted(acts) == ["answer"] * 8 + ["stop", "withdraw"]


def test_the_record_is_safe_and_static(word: str) -> None:
    state = SessionState()
    document = TurnDocument(state, agent_name=word)
    document.note(c for update in turn_with_everything(word) for c in apply(state, update))
    bundle = record_bundle(
        state,
        document.keys,
        agent_name=word,
        stop_reason=word,
        failure=Failure(word),
        elapsed_s=1.0,
    )
    facts = HtmlFacts(bundle["text/html"])
    assert facts.dangers == []
    assert "button" not in facts.tags
    assert not any(name.startswith(("data-", "on")) for _, name, _ in facts.attributes)
    for text in bundle.values():
        text.encode("utf-8")

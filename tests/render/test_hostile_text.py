"""Whatever an agent writes is text: in every field, live and in the record."""

from __future__ import annotations

import pytest
from hostile import HOSTILE
from html_facts import HtmlFacts
from page_model import PageModel
from turns import turn_with_everything

from acp_notebook.render.document import TurnDocument
from acp_notebook.render.record import record_bundle
from acp_notebook.session.reducer import apply
from acp_notebook.session.state import SessionState
from acp_notebook.session.updates import Failure

# The page of these tests parses a table of thousands of cells after every update, which takes 20 s;
# tests/browser/test_hostile.py shows the same table to a real page.
WORDS = {name: word for name, word in HOSTILE.items() if name != "table"}


@pytest.fixture(params=WORDS.values(), ids=WORDS.keys())
def word(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_the_live_view_is_safe(word: str) -> None:
    state = SessionState()
    document = TurnDocument(state, agent_name=word)
    page = PageModel()
    for update in turn_with_everything(word):
        document.note(apply(state, update))
        page.obey(document.ops())
        while document.is_behind:
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
    while document.is_behind:
        page.obey(document.ops())
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

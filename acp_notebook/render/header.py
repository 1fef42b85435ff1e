"""The turn's first and last line: who, what state, how long, how much, and Stop."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from acp_notebook.render.markup import Paper, join, label
from acp_notebook.render.words import (
    Wording,
    elapsed_words,
    state_words,
    stop_words,
    usage_words,
)
from acp_notebook.session.state import SessionState
from acp_notebook.session.updates import Failure


@dataclass(frozen=True, slots=True)
class Ending:
    """How a turn ended, as the caller knows it."""

    stop_reason: str | None
    failure: Failure | None = None
    elapsed_s: float | None = None

    @property
    def words(self) -> Wording:
        """The stop reason in words."""
        return stop_words(self.stop_reason, self.failure)


def render_head(
    paper: Paper, state: SessionState, agent_name: str, ending: Ending | None
) -> Markup:
    """Agent, title, usage, state, time, Stop."""
    parts = [paper("span", "agent-name", label(agent_name, 80))]
    if state.title:
        parts.append(paper("span", "session-title", label(state.title, 120), dir="auto"))
    parts.append(_meter(paper, state))
    parts.append(_now(paper, state, ending))
    return join(*(part for part in parts if part))


def _now(paper: Paper, state: SessionState, ending: Ending | None) -> Markup:
    if ending is not None:
        time = _time(paper, ending)
        return paper("span", "now", paper.wording(ending.words), time)
    button = _stop_button(paper, state)
    clock = paper("span", "num muted", "", data_clock=True) if button else ""
    return paper("span", "now", paper.wording(state_words(state)), clock, button)


def _time(paper: Paper, ending: Ending) -> Markup:
    if ending.elapsed_s is None:
        return Markup("")
    return paper("span", "num muted", elapsed_words(ending.elapsed_s))


def _stop_button(paper: Paper, state: SessionState) -> Markup:
    if not state.is_connected or (state.is_idle and not state.open_prompts):
        return Markup("")
    words = "Stopping… press again to end the agent" if state.is_cancelling else "Stop"
    look = "button stop is-stopping" if state.is_cancelling else "button stop"
    return paper("button", look, words, type="button", data_act="stop", data_key="stop")


def _meter(paper: Paper, state: SessionState) -> Markup:
    words = usage_words(state)
    usage = state.usage
    if not words or usage is None:
        return Markup("")
    if usage.fraction is None:
        return paper("span", "usage num", words)
    fill = Markup('<span style="width:{}%"></span>').format(round(100 * usage.fraction))
    short = f"{usage.fraction:.0%} of context"
    if usage.cost is not None:
        short += f" · {usage.cost.amount:,.2f} {label(usage.cost.currency, 8)}"
    meter = paper("span", "bar", fill, aria_hidden="true")
    return paper("span", "usage num", meter, short, title=words)


def render_foot(
    paper: Paper, state: SessionState, ending: Ending | None, *, is_empty: bool
) -> Markup:
    """The last line: what goes on now, or how it ended."""
    if ending is None:
        words = state_words(state)
        if words.tone not in {"busy", "warn"}:
            return Markup("")
        return paper("span", f"activity tone-{words.tone}", words.text)
    parts = []
    if is_empty:
        parts.append(paper("div", "muted", "The agent ended its turn without saying anything."))
    if ending.failure is not None:
        parts.append(_failure(paper, ending.failure))
    return join(*parts)


def _failure(paper: Paper, failure: Failure) -> Markup:
    code = f" (code {failure.code})" if failure.code is not None else ""
    head = paper("div", "title tone-bad", f"✗ {label(failure.message, 500)}{code}")
    return paper("div", "error", head)


def render_ending(paper: Paper, state: SessionState, agent_name: str, ending: Ending) -> Markup:
    """The record's last line."""
    facts = [label(agent_name, 80)]
    if ending.elapsed_s is not None:
        facts.append(elapsed_words(ending.elapsed_s))
    facts += [words] if (words := usage_words(state)) else []
    facts = [*facts[:2], *(label(fact, 120) for fact in facts[2:])]
    return join(paper.wording(ending.words), paper("span", "", " · ".join(facts)))

"""The first and last line of a turn: agent, state, time, usage, options, Stop. Knows no page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

from acp_notebook.render.entries.content import json_fold
from acp_notebook.render.labels import (
    Wording,
    background_words,
    count_words,
    elapsed_words,
    state_words,
    stop_words,
    usage_brief,
    usage_words,
)
from acp_notebook.render.markup import Theme, join, label
from acp_notebook.session.state import EntryKey, SessionState, Usage
from acp_notebook.session.updates import ConfigOption, Failure

_CONTROL_CATEGORIES = frozenset({"mode", "model", "thought_level", "model_config"})
_CONTROLS = 4
_CHOICES = 200


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a turn, as the caller knows it."""

    stop_reason: str | None
    failure: Failure | None = None
    elapsed_s: float | None = None
    usage: Usage | None = None
    """The session's usage at the end of the turn."""
    background: int = 0
    """The number of background tasks at the end, as the agent reported."""
    present: Wording | None = None
    """The present activity of a running turn."""

    @property
    def words(self) -> Wording:
        """The stop reason in words, or the present activity."""
        return self.present or stop_words(self.stop_reason, self.failure)


def render_head(theme: Theme, state: SessionState, agent_name: str) -> Markup:
    """Render the agent's name and the session's title."""
    parts = [theme("span", "agent-name", label(agent_name, 80))]
    if state.title:
        parts.append(theme("span", "session-title", label(state.title, 120), dir="auto"))
    return join(*parts)


def render_usage(theme: Theme, usage: Usage | None, background: int) -> Markup:
    """Render usage and background work."""
    parts = [_meter(theme, usage)]
    if background:
        parts.append(theme("span", "muted small num", background_words(background)))
    return join(*parts)


def render_record_head(
    theme: Theme, state: SessionState, agent_name: str, ending: Ending
) -> Markup:
    """Render the record's first lines, equal to the live view's at its end."""
    who = theme("div", "who", render_head(theme, state, agent_name))
    now = theme("div", "now", join(theme.wording(ending.words), _time(theme, ending)))
    head = theme("div", "head", who, now)
    used = render_usage(theme, ending.usage, ending.background)
    # The live view had its controls there; without their place the lines below would move.
    return head + theme("div", "facts", used) if used or _controls(state) else head


def render_now(theme: Theme, state: SessionState, ending: Ending | None, began_s: float) -> Markup:
    """Render state, time and Stop."""
    if ending is not None:
        return join(theme.wording(ending.words), _time(theme, ending))
    button = _stop_button(theme, state)
    clock = theme("span", "num muted", "", data_since=f"{began_s:.1f}") if button else ""
    return join(theme.wording(state_words(state)), clock, button)


def render_controls(theme: Theme, state: SessionState, *, is_over: bool = False) -> Markup:
    """Render menus of options such as mode and model; at the end only their empty place."""
    options = _controls(state)
    if is_over:
        return theme("span", "") if options else Markup("")
    return join(*(_control(theme, option) for option in options))


def _controls(state: SessionState) -> list[ConfigOption]:
    return [option for option in state.config_options if _is_control(option)][:_CONTROLS]


def _is_control(option: ConfigOption) -> bool:
    is_choice = option.type == "select" and 1 < len(option.choices) <= _CHOICES
    return is_choice and option.category in _CONTROL_CATEGORIES


def _control(theme: Theme, option: ConfigOption) -> Markup:
    name = label(option.name, 40)
    is_known = any(choice.value == option.value for choice in option.choices)
    choices = [] if is_known else [theme("option", "", "…", value="", selected=True)]
    # Choices are identified by value, not by position: the list may change before the click.
    choices += [
        theme(
            "option",
            "",
            label(choice.name, 60),
            value=choice.value,
            selected=choice.value == option.value,
            title=label(choice.description) if choice.description else None,
        )
        for choice in option.choices
    ]
    return theme(
        "select",
        "select",
        *choices,
        aria_label=name,
        title=f"{name}: {label(option.description)}" if option.description else name,
        data_act="option",
        data_id=option.id,
        data_key=f"option.{option.id}",
    )


def _time(theme: Theme, ending: Ending) -> Markup:
    if ending.elapsed_s is None:
        return Markup("")
    return theme("span", "num muted", elapsed_words(ending.elapsed_s))


def _stop_button(theme: Theme, state: SessionState) -> Markup:
    if not state.is_connected or (state.is_idle and not state.open_prompts):
        return Markup("")
    words = "Press again to end the agent" if state.is_cancelling else "Stop"
    look = "button stop is-stopping" if state.is_cancelling else "button stop"
    return theme("button", look, words, type="button", data_act="stop", data_key="stop")


def _meter(theme: Theme, usage: Usage | None) -> Markup:
    words = usage_words(usage)
    if not words or usage is None:
        return Markup("")
    bar = "" if usage.fraction is None else theme.bar(usage.fraction)
    brief = theme("span", "", label(usage_brief(usage), 60))
    return theme("span", "usage num", bar, brief, title=label(words, 120))


def render_foot(
    theme: Theme,
    state: SessionState,
    ending: Ending | None,
    keys: Iterable[EntryKey],
    *,
    is_empty: bool,
) -> Markup:
    """Render the last line: the present activity, or the failure."""
    if ending is None:
        words = state_words(state)
        # The question itself and the first line show that the agent waits.
        if words.tone not in {"busy", "warn"} or state.has_questions:
            return Markup("")
        return theme("span", f"activity tone-{words.tone}", words.text)
    parts = []
    if is_empty and ending.present is None:
        parts.append(theme("div", "muted", "The agent ended its turn without saying anything."))
    if ending.failure is not None and not has_loss_entry(state, keys, ending):
        parts.append(_failure(theme, ending.failure))
    return join(*parts)


def has_loss_entry(state: SessionState, keys: Iterable[EntryKey], ending: Ending) -> bool:
    """Whether the failure is the loss of the agent, which an entry shows already."""
    lost = [state.asides[key] for key in keys if key.kind == "lost"]
    failure = ending.failure
    return failure is not None and any(each.reason == failure.message for each in lost)


def _failure(theme: Theme, failure: Failure) -> Markup:
    code = f" (code {failure.code})" if failure.code is not None else ""
    glyph = theme("span", "glyph", "✗", aria_hidden="true")
    head = theme("div", "title tone-bad", glyph, f" {label(failure.message, 500)}{code}")
    step = theme("div", "muted small", "You can prompt again; %acp log has what the agent printed.")
    if failure.data in (None, {}, [], ""):
        return theme("div", "error", head, step)
    detail = json_fold(theme, "What the agent said about it", failure.data, "failure")
    return theme("div", "error", head, step, detail, role="group", aria_label="error")


def render_earlier(theme: Theme, count: int) -> Markup:
    """Render the number of hidden entries, with a button for more."""
    if not count:
        return Markup("")
    words = theme("span", "muted num", f"{count_words(count, 'earlier step')} not shown")
    return words + theme(
        "button", "button quiet", "Show more", type="button", data_act="earlier", data_key="earlier"
    )

"""The table of timeline entries: each kind as HTML and as one line of text. Knows no page.

Kinds without their own module are drawn here. Markdown, plain text and the console take the line,
unless `text.record_text` has a longer form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, Generic, TypeVar

from markupsafe import Markup

from acp_notebook.render.entries.compaction import compaction_words, render_compaction
from acp_notebook.render.entries.content import block_words, json_fold, text_part
from acp_notebook.render.entries.elicitation import elicitation_line, render_elicitation
from acp_notebook.render.entries.json_view import pre_part, rest_remark
from acp_notebook.render.entries.message import render_message, render_thought
from acp_notebook.render.entries.permission import permission_line, render_permission
from acp_notebook.render.entries.tool_call import (
    exit_words,
    render_terminal,
    render_tool_call,
    tool_line,
)
from acp_notebook.render.labels import (
    count_words,
    plan_status_words,
    severity_words,
)
from acp_notebook.render.markup import Theme, join, label
from acp_notebook.session.content import ContentBlock, TextBlock
from acp_notebook.session.elicitation import Elicitation
from acp_notebook.session.state import (
    Compaction,
    EntryKey,
    EntryKind,
    Message,
    Permission,
    Plan,
    Prompt,
    SessionState,
    Terminal,
    ToolCall,
)
from acp_notebook.session.updates import AgentLost, Notice, PlanEntry, UnknownUpdate, Violation

# Entries that are no answer of the agent: a turn with only these is empty.
OURS: Final = frozenset({"prompt", "user", "violation"})
PLAN_LIMIT: Final = 300
_CHEVRON: Final = "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}"
_PROMPT_MARK: Final = f"{_CHEVRON} "
_PROMPT_LINE_CHARS = 300
_CHIPS_SHOWN = 100

R = TypeVar("R")


@dataclass(frozen=True)
class EntryLook(Generic[R]):
    """The look of one kind of entry; `R` is the record that `SessionState.entry` returns."""

    html: Callable[[Theme, SessionState, R, str], Markup]
    """Returns the HTML, possibly empty. The last argument is the entry's name on the page."""
    line: Callable[[SessionState, R], str]
    """Returns one line of text, possibly empty."""
    is_settled: Callable[[R], bool] = lambda _: True
    """Whether the line is final, so that a console may print it."""


def render_entry(theme: Theme, state: SessionState, key: EntryKey, ident: str) -> Markup:
    """Render an entry in its present state; empty if there is nothing to show."""
    record = state.entry(key)
    if record is None:
        return Markup("")
    theme.budget.renew(0.0 if theme.is_hasty else None)
    return LOOKS[key.kind].html(theme, state, record, ident)


def entry_line(state: SessionState, key: EntryKey) -> str:
    """Return an entry as one line of text, which may be empty."""
    record = state.entry(key)
    return "" if record is None else LOOKS[key.kind].line(state, record)


def _prompt(theme: Theme, _: SessionState, prompt: Prompt, ident: str) -> Markup:
    remark = Markup("")
    if prompt.phase == "queued":
        button = theme("button", "button quiet", "Withdraw", data_act="withdraw", data_id=ident)
        words = theme("span", "badge", "queued")
        remark = words + (Markup("") if theme.is_static else button)
    elif prompt.phase == "sent":
        remark = theme("span", "muted small", "sending…") if not theme.is_static else Markup("")
    return _typed(theme, prompt.content, remark, ident)


def _typed(theme: Theme, content: Sequence[ContentBlock], remark: Markup, ident: str) -> Markup:
    text = "".join(block.text for block in content if isinstance(block, TextBlock))
    others = [block for block in content if not isinstance(block, TextBlock)]
    line = [
        theme("span", "chevron", _CHEVRON, aria_hidden="true"),
        " ",
        label(text, _PROMPT_LINE_CHARS),
    ]
    chips = [theme("span", "chip", block_words(block)) for block in others[:_CHIPS_SHOWN]]
    chips.append(rest_remark(theme, len(others) - _CHIPS_SHOWN, "attachments"))
    head = theme("span", "prompt-line", *line, dir="auto") + join(*chips) + remark
    if len(text) <= _PROMPT_LINE_CHARS:
        return theme("div", "prompt", head)
    return theme.fold("prompt fold", head, pre_part(theme, text), key=ident)


def _lone_terminal(theme: Theme, state: SessionState, terminal: Terminal, ident: str) -> Markup:
    if state.terminal_owners.get(terminal.terminal_id):
        return Markup("")
    inner = render_terminal(theme, terminal, f"{ident}.t0")
    return theme("div", "card card-line", theme("span", "muted small", "Terminal"), inner)


def _plan(theme: Theme, state: SessionState, plan: Plan, ident: str) -> Markup:
    if plan.entries is None:
        return json_fold(theme, _plan_line(plan), plan.raw, ident)
    done, total = _progress(plan.entries)
    words = f"{done} of {total} done" if plan.entries else "no steps"
    # A plan's only name is its id, needed only beside other plans.
    name = theme("span", "muted", label(plan.plan_id, 40)) if len(state.plans) > 1 else ""
    line = [
        theme("span", "title plan-name", "Plan"),
        *filter(None, [name]),
        theme("span", "muted small num plan-count", words),
        theme.bar(done / total if total else 0),
    ]
    items = [_plan_item(theme, entry) for entry in plan.entries[:PLAN_LIMIT]]
    rest = rest_remark(theme, len(plan.entries) - PLAN_LIMIT, "steps")
    listing = theme("ul", "plan-list", *items) + rest
    # A finished plan is folded at the end of the turn.
    is_open = not (theme.is_over and plan.entries and done == total)
    row = theme("span", "plan-row", Markup(" ").join(line))
    return theme.fold("card plan", row, listing, key=ident, is_open=is_open)


def _progress(entries: tuple[PlanEntry, ...]) -> tuple[int, int]:
    done = sum(entry.status == "completed" for entry in entries)
    return done, sum(entry.status != "cancelled" for entry in entries)


def _plan_line(plan: Plan) -> str:
    if plan.entries is None:
        return f"Plan of the unknown type {label(plan.type, 60)}"
    done, total = _progress(plan.entries)
    return f"Plan: {done} of {total} done"


def _plan_item(theme: Theme, entry: PlanEntry) -> Markup:
    words = plan_status_words(entry.status)
    look = {"completed": "is-done", "cancelled": "is-dropped", "in_progress": "is-now"}
    glyph = theme(
        "span", f"glyph tone-{words.tone}", words.glyph, role="img", aria_label=words.text
    )
    text = theme(
        "span", look.get(entry.status, "is-open"), theme.titled(entry.content, 500), dir="auto"
    )
    known = entry.status in look or entry.status == "pending"
    extra = [] if known else [theme("span", "badge", label(entry.status, 40))]
    if entry.priority == "high":
        extra.append(theme("span", "badge", "high priority"))
    return theme("li", "plan-item", Markup(" ").join([glyph, text, *extra]))


def _notice(theme: Theme, _: SessionState, notice: Notice, __: str) -> Markup:
    words = severity_words(notice.severity)
    head = [theme.wording(words), " ", theme("span", "title", label(notice.title), dir="auto")]
    body = text_part(theme, notice.description) if notice.description else ""
    return theme("div", f"notice notice-{words.tone}", *head, body)


def _notice_line(_: SessionState, notice: Notice) -> str:
    text = f"{severity_words(notice.severity).text}: {label(notice.title)}"
    return f"{text}. {label(notice.description)}" if notice.description else text


def _raw(theme: Theme, state: SessionState, aside: UnknownUpdate | Violation, ident: str) -> Markup:
    return json_fold(theme, _raw_line(state, aside), aside.raw, ident)


def _raw_line(_: SessionState, aside: UnknownUpdate | Violation) -> str:
    if isinstance(aside, UnknownUpdate):
        return f"Update of the unknown kind {label(aside.kind, 60)}"
    return f"The agent broke the protocol in {label(aside.where, 80)}: {label(aside.reason)}"


def _lost(theme: Theme, _: SessionState, lost: AgentLost, ident: str) -> Markup:
    detail = lost.detail
    glyph = theme("span", "glyph tone-bad", "✗", aria_hidden="true")
    what = theme("div", "title", glyph, " ", label(lost.reason, 500))
    step = theme("div", "muted small", "%acp log has all that it printed.")
    if not detail.strip():
        return theme("div", "error", what, step)
    lines = count_words(len(detail.splitlines()), "line")
    title = join(f"Its last words on stderr ({lines})")
    fold = theme.fold("part fold", title, pre_part(theme, detail.strip("\n")), key=ident)
    return theme("div", "error", what, step, fold, role="group", aria_label="error")


def _one_line(content: Sequence[ContentBlock]) -> str:
    # More blocks than characters are not needed.
    return label(" ".join(block_words(block) for block in islice(content, 300)), 300)


def _terminal_line(state: SessionState, terminal: Terminal) -> str:
    if state.terminal_owners.get(terminal.terminal_id):
        return ""
    return f"$ {label(terminal.command or 'terminal')} {exit_words(terminal.exit_status)}".strip()


LOOKS: Final[Mapping[EntryKind, EntryLook[Any]]] = {
    "prompt": EntryLook[Prompt](
        _prompt, lambda _, prompt: _PROMPT_MARK + _one_line(prompt.content)
    ),
    "user": EntryLook[Message](
        lambda theme, _, message, ident: _typed(theme, message.content, Markup(""), ident),
        lambda _, message: _PROMPT_MARK + _one_line(message.content),
    ),
    "agent": EntryLook[Message](
        lambda theme, _, message, ident: render_message(theme, message.content, ident),
        lambda _, message: _one_line(message.content),
    ),
    "thought": EntryLook[Message](
        lambda theme, _, message, ident: render_thought(theme, message, ident),
        lambda _, message: _one_line(message.content),
    ),
    "tool_call": EntryLook[ToolCall](
        render_tool_call,
        lambda _, call: tool_line(call),
        lambda call: call.is_finished,
    ),
    "terminal": EntryLook[Terminal](_lone_terminal, _terminal_line),
    "plan": EntryLook[Plan](_plan, lambda _, plan: _plan_line(plan)),
    "permission": EntryLook[Permission](
        render_permission,
        lambda _, permission: permission_line(permission),
        lambda permission: not permission.is_open,
    ),
    "elicitation": EntryLook[Elicitation](
        lambda theme, _, asked, ident: render_elicitation(theme, asked, ident),
        lambda _, asked: elicitation_line(asked),
        lambda asked: not asked.is_open,
    ),
    "notice": EntryLook[Notice](_notice, _notice_line),
    "compaction": EntryLook[Compaction](
        render_compaction, lambda _, compaction: compaction_words(compaction.status).text
    ),
    "unknown": EntryLook[UnknownUpdate](_raw, _raw_line),
    "violation": EntryLook[Violation](_raw, _raw_line),
    "lost": EntryLook[AgentLost](_lost, lambda _, lost: f"Error: {label(lost.reason, 500)}"),
}

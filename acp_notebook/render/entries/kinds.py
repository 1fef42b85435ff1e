"""Timeline entries other than streamed messages and tool calls -> HTML."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from acp_notebook.render.entries.content import (
    block_words,
    code_part,
    json_fold,
    render_block,
    text_part,
)
from acp_notebook.render.entries.elicitation import render_elicitation
from acp_notebook.render.entries.json_view import json_part, pre_part
from acp_notebook.render.entries.tool_call import (
    render_command,
    render_terminal,
    render_tool_call,
    tool_body,
    tool_title,
)
from acp_notebook.render.labels import (
    WAITS,
    answer_words,
    by_words,
    chosen_option,
    compaction_words,
    count_words,
    is_lasting,
    plan_status_words,
    severity_words,
)
from acp_notebook.render.markup import Theme, join, label, visible
from acp_notebook.session.content import ContentBlock, TextBlock
from acp_notebook.session.elicitation import ElicitationId
from acp_notebook.session.state import (
    Compaction,
    EntryKey,
    Permission,
    Plan,
    Prompt,
    SessionState,
)
from acp_notebook.session.updates import (
    AgentLost,
    CodeSubject,
    CommandSubject,
    Notice,
    PermissionId,
    PermissionOption,
    PlanEntry,
    PlanId,
    PromptId,
    TerminalId,
    ToolCallId,
    ToolCallSubject,
    UnknownSubject,
    UnknownUpdate,
    Violation,
)

_PROMPT_LINE_CHARS = 300
_TITLE_LIMIT_CHARS = 2_000
_DIGIT_KEYS = 9


def render_entry(theme: Theme, state: SessionState, key: EntryKey, ident: str) -> Markup:
    """One entry as it is now; empty if there is nothing to show."""
    match key.kind:
        case "prompt":
            return _prompt(theme, state.prompts[PromptId(key.id)], ident)
        case "user":
            return _typed(theme, state.messages[key].content, Markup(""), ident)
        case "tool_call":
            return render_tool_call(theme, state, state.tool_calls[ToolCallId(key.id)], ident)
        case "terminal":
            return _lone_terminal(theme, state, TerminalId(key.id), ident)
        case "plan":
            return _plan(theme, state, state.plans[PlanId(key.id)], ident)
        case "permission":
            return _permission(theme, state, state.permissions[PermissionId(key.id)], ident)
        case "elicitation":
            return render_elicitation(theme, state.elicitations[ElicitationId(key.id)], ident)
        case "compaction":
            return _compaction(theme, state.compactions[key.id], ident)
        case _:
            return _aside(theme, state.asides.get(key), ident)


def _prompt(theme: Theme, prompt: Prompt, ident: str) -> Markup:
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
    others = [block_words(block) for block in content if not isinstance(block, TextBlock)]
    line = [
        theme(
            "span", "chevron", "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}", aria_hidden="true"
        ),
        " ",
        label(text, _PROMPT_LINE_CHARS),
    ]
    chips = [theme("span", "chip", words) for words in others]
    head = theme("span", "prompt-line", *line, dir="auto") + join(*chips) + remark
    if len(text) <= _PROMPT_LINE_CHARS:
        return theme("div", "prompt", head)
    return theme.fold("prompt fold", head, pre_part(theme, text), key=ident)


def _lone_terminal(
    theme: Theme, state: SessionState, terminal_id: TerminalId, ident: str
) -> Markup:
    if state.terminal_owners.get(terminal_id):
        return Markup("")
    inner = render_terminal(theme, state.terminals.get(terminal_id), f"{ident}.t0")
    return theme("div", "card card-line", theme("span", "muted small", "Terminal"), inner)


def _plan(theme: Theme, state: SessionState, plan: Plan, ident: str) -> Markup:
    if plan.entries is None:
        return json_fold(theme, f"Plan of the unknown type {label(plan.type, 60)}", plan.raw, ident)
    done = sum(entry.status == "completed" for entry in plan.entries)
    total = sum(entry.status != "cancelled" for entry in plan.entries)
    words = f"{done} of {total} done" if plan.entries else "no steps"
    # One plan needs no name, and plans have none but their ids.
    name = theme("span", "muted", label(plan.plan_id, 40)) if len(state.plans) > 1 else ""
    line = [
        theme("span", "title plan-name", "Plan"),
        *filter(None, [name]),
        theme("span", "muted small num plan-count", words),
        theme.bar(done / total if total else 0),
    ]
    items = [_plan_item(theme, entry) for entry in plan.entries]
    listing = theme("ul", "plan-list", *items)
    # What is done at the end of the turn is a fact, no longer something to follow.
    is_open = not (theme.is_over and plan.entries and done == total)
    row = theme("span", "plan-row", Markup(" ").join(line))
    return theme.fold("card plan", row, listing, key=ident, is_open=is_open)


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


def _permission(theme: Theme, state: SessionState, permission: Permission, ident: str) -> Markup:
    request = permission.request
    if not permission.is_open:
        return _answered(theme, permission, ident)
    title = theme(
        "div",
        "ask-title",
        theme("span", "ask-mark", "?", aria_hidden="true"),
        " ",
        visible(request.title[:_TITLE_LIMIT_CHARS]),
    )
    parts = [title]
    if request.description:
        parts.append(text_part(theme, request.description))
    parts += _subject(theme, state, permission, ident)
    if theme.is_static:
        parts.append(theme("div", "muted small", WAITS))
        return theme("div", "card card-line", *parts)
    parts.append(_buttons(theme, request.options, ident))
    return theme(
        "div",
        "ask",
        *parts,
        role="group",
        tabindex="0",
        data_keys=ident,
        data_key=f"{ident}.ask",
        aria_label=f"Permission: {label(request.title)}",
    )


def _answered(theme: Theme, permission: Permission, ident: str) -> Markup:
    """One quiet line; what was asked about is folded behind it."""
    request, answer = permission.request, permission.answer
    words = answer_words(permission)
    by = [label(by_words(answer.by), 80)] if answer and answer.by else []
    title = theme("span", "", theme.titled(request.title), dir="auto")
    line = Markup(" · ").join([theme.wording(words), *by, title])
    option = chosen_option(permission, answer) if answer else None
    detail = []
    if option is not None and option.name.casefold() not in words.text.casefold():
        detail.append(theme("div", "field", f"Answer: {label(option.name, 120)}"))
    detail += [text_part(theme, request.description)] if request.description else []
    match request.subject:
        case CommandSubject(command=command, cwd=cwd):
            detail.append(render_command(theme, command, cwd))
        case CodeSubject(code=code, language=language):
            detail.append(code_part(theme, visible(code), language))
        case UnknownSubject(raw=raw):
            detail.append(json_part(theme, raw, f"{ident}.s"))
        case _:
            pass  # a tool call has a card of its own
    if not detail:
        return theme("div", "answered", line)
    return theme.fold("answered", line, theme("div", "answered-body", *detail), key=ident)


def subject_ident(ident: str) -> str:
    """The name of what a permission entry shows of the call it is about."""
    return f"{ident}.s"


def _subject(theme: Theme, state: SessionState, permission: Permission, ident: str) -> list[Markup]:
    match permission.request.subject:
        case ToolCallSubject(tool_call_id=tool_call_id):
            call = state.tool_calls.get(tool_call_id)
            if call is None:
                return [theme("div", "muted small", f"Tool call {label(tool_call_id, 80)}")]
            title = theme("div", "muted small", theme.titled(tool_title(call)), dir="auto")
            body = tool_body(theme, state, call, subject_ident(ident), is_open=True)
            return [title, theme("div", "ask-subject", *body)] if body else [title]
        case CommandSubject(command=command, cwd=cwd):
            return [render_command(theme, command, cwd)]
        case CodeSubject(code=code, language=language):
            return [code_part(theme, visible(code), language)]
        case UnknownSubject(type=kind, raw=raw):
            title_words = f"About something of the unknown type {label(kind, 60)}"
            return [json_fold(theme, title_words, raw, f"{ident}.s")]
        case None:
            return []


def _buttons(theme: Theme, options: tuple[PermissionOption, ...], ident: str) -> Markup:
    primary = next((o for o in options if o.kind == "allow_once"), None)
    buttons = [
        _button(theme, option, number, ident, is_primary=option is primary)
        for number, option in enumerate(options)
    ]
    return theme("div", "ask-buttons", *buttons)


def _button(
    theme: Theme, option: PermissionOption, number: int, ident: str, *, is_primary: bool
) -> Markup:
    effect = option.kind.partition("_")[0]
    effect = effect if effect in {"allow", "reject"} else "other"
    glyph = {"allow": "✓", "reject": "✗", "other": "•"}[effect]
    lasting = Markup("")
    if is_lasting(option):
        meaning = "This answer holds for later requests too, not only for this one"
        lasting = theme("span", "badge", "from now on", title=meaning)
    digit = theme("kbd", "", str(number + 1), aria_hidden="true") if number < _DIGIT_KEYS else ""
    return theme(
        "button",
        f"button {effect}" + (" primary" if is_primary else ""),
        theme("span", "glyph", glyph, aria_hidden="true"),
        theme("span", "button-label", label(option.name, 120) or f"Option {number + 1}"),
        lasting,
        digit,
        type="button",
        data_act="answer",
        data_id=ident,
        data_n=str(number),
        data_key=f"{ident}.b{number}",
        data_primary=is_primary,
    )


def _compaction(theme: Theme, compaction: Compaction, ident: str) -> Markup:
    words = theme.wording(compaction_words(compaction.status))
    if compaction.error:
        words += " " + theme("span", "muted small", label(compaction.error))
    if not compaction.summary:
        return theme("div", "line muted", words)
    body = [
        render_block(theme, block, f"{ident}.c{number}")
        for number, block in enumerate(compaction.summary)
    ]
    return theme.fold("fold", words, *body, key=ident)


def _aside(theme: Theme, value: Any, ident: str) -> Markup:
    match value:
        case Notice():
            return _notice(theme, value)
        case UnknownUpdate(kind=kind, raw=raw):
            return json_fold(theme, f"Update of the unknown kind {label(kind, 60)}", raw, ident)
        case Violation(where=where, reason=reason, raw=raw):
            title = f"The agent broke the protocol in {label(where, 80)}: {label(reason)}"
            return json_fold(theme, title, raw, ident)
        case AgentLost(reason=reason, detail=detail):
            return render_error(theme, label(reason, 500), detail, ident)
        case _:
            return Markup("")


def _notice(theme: Theme, notice: Notice) -> Markup:
    words = severity_words(notice.severity)
    head = [theme.wording(words), " ", theme("span", "title", label(notice.title), dir="auto")]
    body = text_part(theme, notice.description) if notice.description else ""
    return theme("div", f"notice notice-{words.tone}", *head, body)


def render_error(theme: Theme, reason: str, detail: str, ident: str) -> Markup:
    """What happened and what comes next, as the reason says it; the agent's last words folded."""
    glyph = theme("span", "glyph tone-bad", "✗", aria_hidden="true")
    what = theme("div", "title", glyph, " ", reason)
    step = theme("div", "muted small", "%acp log has all that it printed.")
    if not detail.strip():
        return theme("div", "error", what, step)
    lines = count_words(len(detail.splitlines()), "line")
    title = join(f"Its last words on stderr ({lines})")
    fold = theme.fold("part fold", title, pre_part(theme, detail.strip("\n")), key=ident)
    return theme("div", "error", what, step, fold, role="group", aria_label="error")

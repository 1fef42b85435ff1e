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
from acp_notebook.render.markup import Paper, join, label, visible
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


def render_entry(paper: Paper, state: SessionState, key: EntryKey, ident: str) -> Markup:
    """One entry as it is now; empty if there is nothing to show."""
    match key.kind:
        case "prompt":
            return _prompt(paper, state.prompts[PromptId(key.id)], ident)
        case "user":
            return _typed(paper, state.messages[key].content, Markup(""), ident)
        case "tool_call":
            return render_tool_call(paper, state, state.tool_calls[ToolCallId(key.id)], ident)
        case "terminal":
            return _lone_terminal(paper, state, TerminalId(key.id), ident)
        case "plan":
            return _plan(paper, state, state.plans[PlanId(key.id)], ident)
        case "permission":
            return _permission(paper, state, state.permissions[PermissionId(key.id)], ident)
        case "elicitation":
            return render_elicitation(paper, state.elicitations[ElicitationId(key.id)], ident)
        case "compaction":
            return _compaction(paper, state.compactions[key.id], ident)
        case _:
            return _aside(paper, state.asides.get(key), ident)


def _prompt(paper: Paper, prompt: Prompt, ident: str) -> Markup:
    remark = Markup("")
    if prompt.phase == "queued":
        button = paper("button", "button quiet", "Withdraw", data_act="withdraw", data_id=ident)
        words = paper("span", "badge", "queued")
        remark = words + (Markup("") if paper.is_static else button)
    elif prompt.phase == "sent":
        remark = paper("span", "muted small", "sending…") if not paper.is_static else Markup("")
    return _typed(paper, prompt.content, remark, ident)


def _typed(paper: Paper, content: Sequence[ContentBlock], remark: Markup, ident: str) -> Markup:
    text = "".join(block.text for block in content if isinstance(block, TextBlock))
    others = [block_words(block) for block in content if not isinstance(block, TextBlock)]
    line = [
        paper(
            "span", "chevron", "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}", aria_hidden="true"
        ),
        " ",
        label(text, _PROMPT_LINE_CHARS),
    ]
    chips = [paper("span", "chip", words) for words in others]
    head = paper("span", "prompt-line", *line, dir="auto") + join(*chips) + remark
    if len(text) <= _PROMPT_LINE_CHARS:
        return paper("div", "prompt", head)
    return paper.fold("prompt fold", head, pre_part(paper, text), key=ident)


def _lone_terminal(
    paper: Paper, state: SessionState, terminal_id: TerminalId, ident: str
) -> Markup:
    if state.terminal_owners.get(terminal_id):
        return Markup("")
    inner = render_terminal(paper, state.terminals.get(terminal_id), f"{ident}.t0")
    return paper("div", "card card-line", paper("span", "muted small", "Terminal"), inner)


def _plan(paper: Paper, state: SessionState, plan: Plan, ident: str) -> Markup:
    if plan.entries is None:
        return json_fold(paper, f"Plan of the unknown type {label(plan.type, 60)}", plan.raw, ident)
    done = sum(entry.status == "completed" for entry in plan.entries)
    total = sum(entry.status != "cancelled" for entry in plan.entries)
    words = f"{done} of {total} done" if plan.entries else "no steps"
    # One plan needs no name, and plans have none but their ids.
    name = paper("span", "muted", label(plan.plan_id, 40)) if len(state.plans) > 1 else ""
    line = [
        paper("span", "title plan-name", "Plan"),
        *filter(None, [name]),
        paper("span", "muted small num plan-count", words),
        paper.bar(done / total if total else 0),
    ]
    items = [_plan_item(paper, entry) for entry in plan.entries]
    listing = paper("ul", "plan-list", *items)
    # What is done at the end of the turn is a fact, no longer something to follow.
    is_open = not (paper.is_over and plan.entries and done == total)
    row = paper("span", "plan-row", Markup(" ").join(line))
    return paper.fold("card plan", row, listing, key=ident, is_open=is_open)


def _plan_item(paper: Paper, entry: PlanEntry) -> Markup:
    words = plan_status_words(entry.status)
    look = {"completed": "is-done", "cancelled": "is-dropped", "in_progress": "is-now"}
    glyph = paper(
        "span", f"glyph tone-{words.tone}", words.glyph, role="img", aria_label=words.text
    )
    text = paper(
        "span", look.get(entry.status, "is-open"), paper.titled(entry.content, 500), dir="auto"
    )
    known = entry.status in look or entry.status == "pending"
    extra = [] if known else [paper("span", "badge", label(entry.status, 40))]
    if entry.priority == "high":
        extra.append(paper("span", "badge", "high priority"))
    return paper("li", "plan-item", Markup(" ").join([glyph, text, *extra]))


def _permission(paper: Paper, state: SessionState, permission: Permission, ident: str) -> Markup:
    request = permission.request
    if not permission.is_open:
        return _answered(paper, permission, ident)
    title = paper(
        "div",
        "ask-title",
        paper("span", "ask-mark", "?", aria_hidden="true"),
        " ",
        visible(request.title[:_TITLE_LIMIT_CHARS]),
    )
    parts = [title]
    if request.description:
        parts.append(text_part(paper, request.description))
    parts += _subject(paper, state, permission, ident)
    if paper.is_static:
        parts.append(paper("div", "muted small", WAITS))
        return paper("div", "card card-line", *parts)
    parts.append(_buttons(paper, request.options, ident))
    return paper(
        "div",
        "ask",
        *parts,
        role="group",
        tabindex="0",
        data_keys=ident,
        data_key=f"{ident}.ask",
        aria_label=f"Permission: {label(request.title)}",
    )


def _answered(paper: Paper, permission: Permission, ident: str) -> Markup:
    """One quiet line; what was asked about is folded behind it."""
    request, answer = permission.request, permission.answer
    words = answer_words(permission)
    by = [label(by_words(answer.by), 80)] if answer and answer.by else []
    title = paper("span", "", paper.titled(request.title), dir="auto")
    line = Markup(" · ").join([paper.wording(words), *by, title])
    option = chosen_option(permission, answer) if answer else None
    detail = []
    if option is not None and option.name.casefold() not in words.text.casefold():
        detail.append(paper("div", "field", f"Answer: {label(option.name, 120)}"))
    detail += [text_part(paper, request.description)] if request.description else []
    match request.subject:
        case CommandSubject(command=command, cwd=cwd):
            detail.append(render_command(paper, command, cwd))
        case CodeSubject(code=code, language=language):
            detail.append(code_part(paper, visible(code), language))
        case UnknownSubject(raw=raw):
            detail.append(json_part(paper, raw, f"{ident}.s"))
        case _:
            pass  # a tool call has a card of its own
    if not detail:
        return paper("div", "answered", line)
    return paper.fold("answered", line, paper("div", "answered-body", *detail), key=ident)


def subject_ident(ident: str) -> str:
    """The name of what a permission entry shows of the call it is about."""
    return f"{ident}.s"


def _subject(paper: Paper, state: SessionState, permission: Permission, ident: str) -> list[Markup]:
    match permission.request.subject:
        case ToolCallSubject(tool_call_id=tool_call_id):
            call = state.tool_calls.get(tool_call_id)
            if call is None:
                return [paper("div", "muted small", f"Tool call {label(tool_call_id, 80)}")]
            title = paper("div", "muted small", paper.titled(tool_title(call)), dir="auto")
            body = tool_body(paper, state, call, subject_ident(ident), is_open=True)
            return [title, paper("div", "ask-subject", *body)] if body else [title]
        case CommandSubject(command=command, cwd=cwd):
            return [render_command(paper, command, cwd)]
        case CodeSubject(code=code, language=language):
            return [code_part(paper, visible(code), language)]
        case UnknownSubject(type=kind, raw=raw):
            title_words = f"About something of the unknown type {label(kind, 60)}"
            return [json_fold(paper, title_words, raw, f"{ident}.s")]
        case None:
            return []


def _buttons(paper: Paper, options: tuple[PermissionOption, ...], ident: str) -> Markup:
    primary = next((o for o in options if o.kind == "allow_once"), None)
    buttons = [
        _button(paper, option, number, ident, is_primary=option is primary)
        for number, option in enumerate(options)
    ]
    return paper("div", "ask-buttons", *buttons)


def _button(
    paper: Paper, option: PermissionOption, number: int, ident: str, *, is_primary: bool
) -> Markup:
    effect = option.kind.partition("_")[0]
    effect = effect if effect in {"allow", "reject"} else "other"
    glyph = {"allow": "✓", "reject": "✗", "other": "•"}[effect]
    lasting = Markup("")
    if is_lasting(option):
        meaning = "This answer holds for later requests too, not only for this one"
        lasting = paper("span", "badge", "from now on", title=meaning)
    digit = paper("kbd", "", str(number + 1), aria_hidden="true") if number < _DIGIT_KEYS else ""
    return paper(
        "button",
        f"button {effect}" + (" primary" if is_primary else ""),
        paper("span", "glyph", glyph, aria_hidden="true"),
        paper("span", "button-label", label(option.name, 120) or f"Option {number + 1}"),
        lasting,
        digit,
        type="button",
        data_act="answer",
        data_id=ident,
        data_n=str(number),
        data_key=f"{ident}.b{number}",
        data_primary=is_primary,
    )


def _compaction(paper: Paper, compaction: Compaction, ident: str) -> Markup:
    words = paper.wording(compaction_words(compaction.status))
    if compaction.error:
        words += " " + paper("span", "muted small", label(compaction.error))
    if not compaction.summary:
        return paper("div", "line muted", words)
    body = [
        render_block(paper, block, f"{ident}.c{number}")
        for number, block in enumerate(compaction.summary)
    ]
    return paper.fold("fold", words, *body, key=ident)


def _aside(paper: Paper, value: Any, ident: str) -> Markup:
    match value:
        case Notice():
            return _notice(paper, value)
        case UnknownUpdate(kind=kind, raw=raw):
            return json_fold(paper, f"Update of the unknown kind {label(kind, 60)}", raw, ident)
        case Violation(where=where, reason=reason, raw=raw):
            title = f"The agent broke the protocol in {label(where, 80)}: {label(reason)}"
            return json_fold(paper, title, raw, ident)
        case AgentLost(reason=reason, detail=detail):
            return render_error(paper, label(reason, 500), detail, ident)
        case _:
            return Markup("")


def _notice(paper: Paper, notice: Notice) -> Markup:
    words = severity_words(notice.severity)
    head = [paper.wording(words), " ", paper("span", "title", label(notice.title), dir="auto")]
    body = text_part(paper, notice.description) if notice.description else ""
    return paper("div", f"notice notice-{words.tone}", *head, body)


def render_error(paper: Paper, reason: str, detail: str, ident: str) -> Markup:
    """What happened and what comes next, as the reason says it; the agent's last words folded."""
    glyph = paper("span", "glyph tone-bad", "✗", aria_hidden="true")
    what = paper("div", "title", glyph, " ", reason)
    step = paper("div", "muted small", "%acp log has all that it printed.")
    if not detail.strip():
        return paper("div", "error", what, step)
    lines = count_words(len(detail.splitlines()), "line")
    title = join(f"Its last words on stderr ({lines})")
    fold = paper.fold("part fold", title, pre_part(paper, detail.strip("\n")), key=ident)
    return paper("div", "error", what, step, fold, role="group", aria_label="error")

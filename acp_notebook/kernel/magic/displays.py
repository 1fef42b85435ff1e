"""The displays of small commands: a started agent, the state, lists. One bundle each.

HTML with inline styles for notebooks, text for other front ends; all of an agent's words are
escaped. Knows the client only as values to show.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from IPython.display import display
from markupsafe import Markup, escape

from acp_notebook.characters import mark_name
from acp_notebook.errors import printable
from acp_notebook.render.markup import clean, label

if TYPE_CHECKING:
    from acp_notebook.client.agent import Agent
    from acp_notebook.client.connection.session_calls import SessionListing
    from acp_notebook.client.live.policies import Policy
    from acp_notebook.client.session import Session
    from acp_notebook.kernel.magic.roster import Roster

MUTED = "color:var(--jp-ui-font-color2,#757575)"
CODE = "font-family:var(--jp-code-font-family,monospace);font-size:.92em"
_STATUS_HEAD = ("agent", "state", "session", "turns", "protocol", "permissions")
_FRAME = "font-family:var(--jp-ui-font-family,sans-serif);line-height:1.5;padding:2px 0"


def show_bundle(html: Markup, text: str) -> None:
    """Display the same content as HTML and as text."""
    body = Markup('<div style="{}">{}</div>').format(_FRAME, html)
    # All of an agent's words, escaped: what hides or misleads in them is marked in both forms.
    display({"text/html": mark_name(clean(str(body))), "text/plain": printable(text)}, raw=True)


def show_text(text: str) -> None:
    """Display one sentence."""
    show_bundle(escape(text), text)


def show_started(agent: Agent) -> None:
    """Show a started agent, and how to prompt it."""
    facts = f"{agent.info.label} {agent.info.version}".strip()
    version = f"ACP v{agent.protocol_version}"
    html = Markup(
        '<b>{label}</b> is ready <span style="{muted}">· {facts} · {version} · {cwd}</span><br>'
        '<span style="{muted}">Write <code style="{code}">%%acp</code> at the top of a cell and '
        "your prompt below it.</span>"
    ).format(
        label=agent.label,
        facts=facts,
        version=version,
        cwd=agent.launch.cwd,
        muted=MUTED,
        code=CODE,
    )
    text = (
        f"{agent.label} is ready: {facts}, {version}, in {agent.launch.cwd}\n"
        "Write %%acp at the top of a cell and your prompt below it."
    )
    show_bundle(html, text)


def show_status(roster: Roster) -> None:
    """Show the agents of this notebook, their states, and the next steps."""
    others = roster.others
    if not len(roster) and not others:
        words, command = "No agent is running. For a first try: ", "%acp start demo"
        html = Markup('{}<code style="{}">{}</code>').format(words, CODE, command)
        show_bundle(html, words + command)
        return
    rows: list[tuple[str, ...]] = [_STATUS_HEAD]
    for agent in roster:
        rows += _status_rows(agent.label, agent)
    for name, agent in others.items():
        rows += _status_rows(name, agent) or [(name, "no session", "", "", "", "")]
    note = "%%acp prompts the last one; %acp help shows the rest."
    if others:
        many = "these agents" if len(others) > 1 else "this agent"
        note = (
            f"Python code started {many}: {', '.join(others)}. Name one to use it: "
            f"%acp prompt --to {next(iter(others))} ..., %acp quit {next(iter(others))}. "
            + (note if len(roster) else "%acp quit --all ends all.")
        )
    show_table(rows, note)


def _status_rows(name: str, agent: Agent) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    if agent.needs_login:
        rows.append((name, "needs login", "%acp login", "", "", ""))
    for session in agent.sessions:
        title = session.title or session.id
        turns, version = str(len(session.turns)), f"v{agent.protocol_version}"
        granted = "".join(f"; {tool} allowed" for tool in session.grants)
        allowed = f"{_policy_words(session.permissions)}{granted}"
        rows.append((name, _state_words(session), title, turns, version, allowed))
    return rows


def _state_words(session: Session) -> str:
    questions = session.questions
    if questions:
        more = f" and {len(questions) - 1} more" if len(questions) > 1 else ""
        return f"asks: {label(questions[0].title, 60)}{more}"
    state = session.state.replace("_", " ")
    is_between_turns = session.last_turn is None or session.last_turn.is_done
    if is_between_turns and not session.is_at_rest:
        return f"{state}, by itself: %acp wait"  # no cell shows that work live
    return state


def _policy_words(policy: Policy) -> str:
    return policy if isinstance(policy, str) else getattr(policy, "__name__", "a function")


def show_permissions(agent: Agent) -> None:
    """Show the permission policy, and what the user allowed beyond a single request."""
    rows = [("session", "allowed", "until", "to take it back")]
    for session in agent.sessions:
        title = session.title or session.id
        rows += [
            (title, name, "the session or its policy ends", f"%acp permissions forget {name}")
            for name in session.grants
        ]
        rows += [
            (title, words, "the agent forgets it", "with the agent: it keeps its own rules")
            for words in session.lasting_answers
        ]
    policy = f"Permission policy of {agent.label}: {_policy_words(agent.permissions)}"
    if len(rows) == 1:
        show_text(f"{policy}. Nothing is allowed beyond it.")
        return
    show_table(rows, f"{policy}. A new policy takes back what was allowed in this notebook.")


def show_agents(words: Sequence[str] = ()) -> None:
    """Show the known agents, whether they can start here, and their commands."""
    from acp_notebook.client.agents.known_agents import known_agents

    words = [word.lower() for word in words]
    rows = [("agent", "what it is", "from", "starts here", "command")]
    for agent in known_agents().values():
        row = (
            agent.name,
            f"{agent.title}: {agent.note}" if agent.note else agent.title,
            agent.source,
            f"no: {agent.missing}" if agent.missing else "yes",
            shlex.join(agent.command),
        )
        if all(word in " ".join(row).lower() for word in words):
            rows.append(row)
    show_table(rows, "Any other agent starts by its command: %acp start -- COMMAND ARGS")


def show_commands(agent: Agent) -> None:
    """Show the agent's slash commands."""
    commands = agent.session.commands
    if not commands:
        show_text(f"{agent.label} has no slash commands.")
        return
    rows = [("command", "what it does")]
    for command in commands:
        hint = f" {command.hint}" if command.hint else ""
        rows.append((f"/{command.name}{hint}", command.description))
    show_table(rows, "Send one as the text of a prompt: %acp prompt /name ...")


def show_sessions(agent: Agent, listing: SessionListing) -> None:
    """Show the agent's list of sessions, each with the line that resumes it."""
    if not listing.sessions:
        show_text(f"{agent.label} keeps no sessions of this folder. %acp sessions --all shows all.")
        return
    open_ids = {session.id for session in agent.sessions}
    rows = [("title", "last used", "folder", "to take it up")]
    for session in listing.sessions:
        line = "(open here)" if session.id in open_ids else f"%acp resume {session.id}"
        rows.append((session.title or "(no title)", session.updated_at or "", session.cwd, line))
    show_table(rows, listing.warning or "")


def show_options(agent: Agent) -> None:
    """Show the agent's options, in its order, with their values."""
    options = agent.session.config_options
    if not options:
        show_text(f"{agent.label} has no options.")
        return
    rows = [("option", "is", "can be", "what it is")]
    for option in options:
        is_boolean = isinstance(option.value, bool)
        value = ("on" if option.value else "off") if is_boolean else option.value or ""
        choices = ", ".join(choice.value for choice in option.choices)
        if option.type == "boolean":
            choices = "on, off"
        what = option.name + (f": {option.description}" if option.description else "")
        rows.append((option.id, str(value), choices, what))
    show_table(rows, "%acp set OPTION VALUE")


def show_table(rows: Sequence[Sequence[str]], note: str = "") -> None:
    """Show a small table, whose first row is the head."""
    head, *body = rows
    cell = "text-align:left;padding:2px 16px 2px 0;vertical-align:top"
    html = Markup('<table style="border-collapse:collapse"><thead><tr>{}</tr></thead>').format(
        _cells("th", f"{cell};font-weight:600;{MUTED}", head)
    )
    html += Markup("<tbody>{}</tbody></table>").format(
        Markup("").join(Markup("<tr>{}</tr>").format(_cells("td", cell, row)) for row in body)
    )
    if note:
        html += Markup('<div style="{}">{}</div>').format(MUTED, note)
    show_bundle(html, "\n".join([*_columns(rows), note]).rstrip())


def _cells(tag: str, style: str, row: Sequence[str]) -> Markup:
    made = (Markup('<{t} style="{s}">{v}</{t}>').format(t=tag, s=style, v=value) for value in row)
    return Markup("").join(made)


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))]
    return [
        "  ".join(value.ljust(width) for value, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]

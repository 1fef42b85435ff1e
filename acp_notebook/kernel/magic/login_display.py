"""The display of an agent's login methods, with the command for each. Performs no login."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from acp_notebook.kernel.magic.displays import CODE, MUTED, show_bundle, show_text
from acp_notebook.render.markup import label

if TYPE_CHECKING:
    from acp_notebook.client.agent import Agent
    from acp_notebook.protocol.dialect import AuthMethod

_HOW = {"agent": "the agent does it", "terminal": "in a terminal, here in the cell"}


def show_offer(agent: Agent) -> None:
    """Show how to log in, and whether the agent wants a login."""
    if not agent.auth_methods and not agent.needs_login:
        show_text(f"{agent.label} has not asked for a login, and offers none.")
        return
    if not agent.auth_methods:
        words = "It offers no way to log in from here: log in with its own program, then start it."
        html = Markup("<b>{}</b> wants you to log in. {}").format(agent.label, words)
        show_bundle(html, f"{agent.label} wants you to log in. {words}")
        return
    wish = "wants you to log in. There are:" if agent.needs_login else "offers to log in by:"
    lines = [f"{agent.label} {wish}"]
    html = Markup("<b>{}</b> {}").format(agent.label, wish)
    for method in agent.auth_methods:
        about = label(method.description or "", 300)
        how = _HOW.get(method.type, "this client does not know how")
        command = _command(agent, method)
        html += Markup(
            '<div style="margin:4px 0 0 12px"><b>{name}</b> <span style="{muted}">{about}</span>'
            '<br>{command}<span style="{muted}">{how}</span></div>'
        ).format(
            name=label(method.name, 120),
            about=about,
            command=Markup('<code style="{}">{}</code> ').format(CODE, command) if command else "",
            how=how,
            muted=MUTED,
        )
        lines.append(f"  {label(method.name, 120)}  {about}".rstrip())
        lines.append(f"    {command}  ({how})" if command else f"    ({how})")
    show_bundle(html, "\n".join(lines))


def _command(agent: Agent, method: AuthMethod) -> str:
    if method.type not in _HOW:
        return ""
    word = label(method.id, 120)
    quoted = f'"{word}"' if " " in word else word
    return f"%acp login {quoted} --to {agent.label}"

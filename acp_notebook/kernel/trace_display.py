"""`%acp trace`: the messages between client and agent, one line each, foldable.

A plain list; knows the recording, not the protocol.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

from acp_notebook.errors import UsageError
from acp_notebook.kernel.displays import show_bundle

if TYPE_CHECKING:
    from acp_notebook.client.agent import Agent
    from acp_notebook.trace.recording import Frame, Recording

DEFAULT_LAST = 200
_MAX_SHOWN_CHARACTERS = 20_000
_ARROWS = {"sent": "→ agent", "received": "← agent"}


def show_trace(agent: Agent, last: int | None) -> None:
    """Show the last messages, oldest first."""
    frames = agent.recording.frames(DEFAULT_LAST if last is None else last)
    if not frames:
        text = f"No messages with {agent.label} yet."
        show_bundle(Markup("{}").format(text), text)
        return
    html = Markup("").join(_frame_html(frame) for frame in frames)
    text = "\n".join(_frame_text(frame) for frame in frames)
    show_bundle(html, text)


def save_trace(recording: Recording, file: str) -> str:
    """Write all messages kept to a file; return what was done.

    Raises:
        UsageError: The file cannot be written.
    """
    frames = recording.frames()
    lines = [
        json.dumps(
            {"at_s": round(frame.at_s, 6), "direction": frame.direction, "message": frame.message}
        )
        for frame in frames
    ]
    path = Path(file).expanduser()
    try:
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written: {error.strerror}. Name another file."
        ) from None
    return f"{len(frames)} messages written to {path}"


def _frame_text(frame: Frame) -> str:
    message = json.dumps(frame.message, ensure_ascii=False)
    if len(message) > 300:  # noqa: PLR2004 - a line one still reads
        message = f"{message[:300]}…"
    return f"{frame.at_s:8.3f} s  {_ARROWS[frame.direction]}  {frame.label}\n            {message}"


def _frame_html(frame: Frame) -> Markup:
    body = json.dumps(frame.message, indent=2, ensure_ascii=False)
    if len(body) > _MAX_SHOWN_CHARACTERS:
        left_out = len(body) - _MAX_SHOWN_CHARACTERS
        body = f"{body[:_MAX_SHOWN_CHARACTERS]}\n… {left_out} more characters (%acp trace --save)"
    muted = "color:var(--jp-ui-font-color2,#757575);font-variant-numeric:tabular-nums"
    return Markup(
        '<details style="margin:1px 0"><summary style="cursor:pointer">'
        '<span style="{muted}">{at} s</span> <b>{arrow}</b> {label}</summary>'
        '<pre style="margin:2px 0 6px 18px;white-space:pre-wrap;overflow-wrap:anywhere;'
        'font-size:.9em">{body}</pre></details>'
    ).format(
        muted=muted,
        at=f"{frame.at_s:.3f}",
        arrow=_ARROWS[frame.direction],
        label=frame.label,
        body=body,
    )

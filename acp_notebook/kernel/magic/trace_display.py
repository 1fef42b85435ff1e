"""`%acp trace`: the messages between client and agent, one foldable line each.

Knows the recording, not the protocol.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from acp_notebook.errors import UsageError
from acp_notebook.kernel.magic.displays import show_bundle, show_text
from acp_notebook.render.markup import clean
from acp_notebook.trace.reading import Step, named_frames, since_last_prompt, steps

if TYPE_CHECKING:
    from acp_notebook.client.agent import Agent
    from acp_notebook.trace.recording import Recording

DEFAULT_LAST = 200
SHOWN_FRAMES_OF_A_RUN = 5
MAX_SHOWN_CHARACTERS = 20_000
MAX_LINE_CHARACTERS = 160
_ARROWS = {"sent": "→ agent", "received": "← agent"}
_MUTED = "color:var(--jp-ui-font-color2,#757575);font-variant-numeric:tabular-nums"


def show_trace(agent: Agent, *, last: int | None, is_turn: bool, only: str | None) -> None:
    """Show the `last` messages, oldest first.

    With `is_turn` only since the last prompt; with `only` those with this word in their names.
    """
    named = named_frames(agent.recording.frames())
    if is_turn:
        named = since_last_prompt(named)
    if only:
        named = [(name, frame) for name, frame in named if only in name]
    shown = steps(named[-(DEFAULT_LAST if last is None else max(last, 1)) :])
    if not shown:
        show_text(f"There are no such messages with {agent.label}.")
        return
    html = Markup("").join(_step_html(step) for step in shown)
    show_bundle(html, "\n".join(_step_text(step) for step in shown))


def save_trace(recording: Recording, file: str) -> str:
    """Write all recorded messages to a file; return a report in one sentence.

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


def _title(step: Step) -> str:
    return step.name if len(step.frames) == 1 else f"{step.name}, {len(step.frames)} times"


def _json(message: Any, indent: int | None) -> str:
    return clean(json.dumps(message, indent=indent, ensure_ascii=False))


def _step_text(step: Step) -> str:
    first = step.frames[0]
    line = f"{first.at_s:8.3f} s  {_ARROWS[first.direction]}  {_title(step)}"
    body = _json(first.message, None)
    if len(body) > MAX_LINE_CHARACTERS:
        body = f"{body[:MAX_LINE_CHARACTERS]}…"
    return f"{clean(line)}\n            {body}"


def _step_html(step: Step) -> Markup:
    shown = step.frames[:SHOWN_FRAMES_OF_A_RUN]
    body = "\n".join(_json(frame.message, 2) for frame in shown)
    if len(step.frames) > len(shown):
        body += f"\n… and {len(step.frames) - len(shown)} more like these"
    if len(body) > MAX_SHOWN_CHARACTERS:
        left_out = len(body) - MAX_SHOWN_CHARACTERS
        body = (
            f"{body[:MAX_SHOWN_CHARACTERS]}\n… {left_out} more characters: %acp trace --save FILE"
        )
    return Markup(
        '<details style="margin:1px 0"><summary style="cursor:pointer">'
        '<span style="{muted}">{at} s</span> <b>{arrow}</b> {title}</summary>'
        '<pre style="margin:2px 0 6px 18px;white-space:pre-wrap;overflow-wrap:anywhere;'
        'font-size:.9em">{body}</pre></details>'
    ).format(
        muted=_MUTED,
        at=f"{step.frames[0].at_s:.3f}",
        arrow=_ARROWS[step.frames[0].direction],
        title=clean(_title(step)),
        body=body,
    )

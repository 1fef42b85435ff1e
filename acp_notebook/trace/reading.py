"""Reading a recording: names of answers, the frames of one turn, runs of similar frames.

Knows JSON-RPC's outer members and the method that starts a turn; displays nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from acp_notebook.trace.recording import Frame

PROMPT_METHOD = "session/prompt"
_OTHER = {"sent": "received", "received": "sent"}


@dataclass(frozen=True, slots=True)
class Step:
    """One named frame, or several in a row that differ only in content."""

    name: str
    frames: tuple[Frame, ...]


def named_frames(frames: Iterable[Frame]) -> list[tuple[str, Frame]]:
    """Return each frame with a name; an answer is named after the method that it answers."""
    asked: dict[tuple[str, str], str] = {}
    found = []
    for frame in frames:
        message = frame.message
        name = frame.label
        if isinstance(message, dict) and "id" in message:
            request_id = repr(message["id"])
            if isinstance(message.get("method"), str):
                asked[frame.direction, request_id] = message["method"]
            else:
                method = asked.pop((_OTHER[frame.direction], request_id), None)
                outcome = "error" if "error" in message else "answer"
                name = f"{method} {outcome}" if method else name
        found.append((name, frame))
    return found


def since_last_prompt(named: Sequence[tuple[str, Frame]]) -> list[tuple[str, Frame]]:
    """Return the frames from the last sent prompt on, or all of them if there is no prompt."""
    for index in range(len(named) - 1, -1, -1):
        name, frame = named[index]
        if name == PROMPT_METHOD and frame.direction == "sent":
            return list(named[index:])
    return list(named)


def steps(named: Iterable[tuple[str, Frame]]) -> list[Step]:
    """Group consecutive frames of one name and direction, such as a message's chunks."""
    groups = itertools.groupby(named, key=lambda pair: (pair[0], pair[1].direction))
    return [Step(name, tuple(frame for _, frame in group)) for (name, _), group in groups]

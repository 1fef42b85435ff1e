"""`--cache`: turns in files beside the notebook, which can then run again without an agent.

The key of a recorded turn is its prompt as sent, with all attachments, and its agent; neither the
earlier conversation nor the agent's mode and model count. A file holds the turn's record and text;
the HTML is made inert before display, because a file may come from anybody. Knows no wire.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from acp_notebook.errors import AgentError
from acp_notebook.protocol.content import write_block
from acp_notebook.session.content import ContentBlock, ResourceBlock, TextBlock

if TYPE_CHECKING:
    from acp_notebook.client.code_blocks import CodeBlock
    from acp_notebook.client.turn import Turn

FOLDER = ".acp_cache"
_VERSION = 1
_MIMES = ("text/html", "text/markdown", "text/plain")


@dataclass(frozen=True, slots=True, weakref_slot=True)
class RecordedTurn:
    """A turn read from the cache, with the main properties of a finished `Turn`."""

    text: str
    stop_reason: str
    agent: str
    recorded_at: str
    record: dict[str, str] = field(repr=False)
    error: None = None
    is_done: bool = True

    @property
    def outcome(self) -> str:
        """The stop reason."""
        return self.stop_reason

    @property
    def code_blocks(self) -> list[CodeBlock]:
        """The fenced blocks of the reply, in order."""
        from acp_notebook.client.code_blocks import find_code_blocks

        return find_code_blocks(self.text)

    def to_markdown(self) -> str:
        """The record as Markdown, marked as a recording."""
        return f"*{self._mark}*\n\n{self.record['text/markdown']}"

    def wait(self, timeout: float | None = None) -> Self:
        """Return at once: a recorded turn is over."""
        del timeout
        return self

    def raise_for_stop(self) -> Self:
        """Return the turn: only turns that ended with `end_turn` are recorded."""
        return self

    @property
    def _mark(self) -> str:
        return f"Recorded turn of {self.agent}, {self.recorded_at}. The agent was not asked."

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        from markupsafe import Markup

        from acp_notebook.render.stored_html import stored_html

        style = "margin:0 0 6px 0;font-size:12px;color:#808488"
        head = Markup('<div style="{}">{}</div>').format(style, self._mark)
        return {
            "text/html": str(head) + str(stored_html(self.record["text/html"])),
            "text/markdown": self.to_markdown(),
            "text/plain": f"{self._mark}\n\n{self.record['text/plain']}",
        }


class TurnCache:
    """The recorded turns of the present folder, and the agents that could not start."""

    def __init__(self) -> None:
        self._origins: dict[str, str] = {}
        self._missing: dict[str, str] = {}
        self._present: str | None = None

    def agent_started(self, label: str, origin: str) -> None:
        """Note the origin of a label: the user's name or command for the agent."""
        self._origins[label] = origin
        self._missing.pop(label, None)
        self._present = None

    def agent_missing(self, label: str, origin: str, reason: str) -> None:
        """Note that an agent could not start, so that recorded turns may stand in."""
        self._origins[label] = origin
        self._missing[label] = reason
        self._present = label

    def stand_in(self, label: str | None) -> str | None:
        """Return the label of the agent, or of the present one, if it could not start."""
        meant = label or self._present
        return meant if meant in self._missing else None

    def check_present(self, label: str | None) -> None:
        """Check that the agent could start.

        Raises:
            AgentError: It could not, so that a prompt without a recorded turn fails.
        """
        meant = self.stand_in(label)
        if meant is not None:
            raise AgentError(
                f"No turn is recorded for this prompt in {FOLDER}, and {meant} could not start: "
                f"{self._missing[meant]}"
            )

    def key(self, label: str, content: Sequence[ContentBlock]) -> str:
        """Return the key of a turn: a hash of agent and prompt."""
        origin = self._origins.get(label, label)
        text = json.dumps([_VERSION, origin, [write_block(block) for block in content]])
        return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:24]

    def find(self, key: str) -> RecordedTurn | None:
        """Return the turn recorded under a key; None for a missing or unreadable file."""
        try:
            return _read(json.loads(_path(key).read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def keep(self, key: str, turn: Turn) -> None:
        """Record a turn that ended with `end_turn`; others are not recorded."""
        if turn.stop_reason != "end_turn" or turn.error is not None:
            return
        from acp_notebook.client.turn_record import record_of

        recorded_at = dt.datetime.fromtimestamp(turn.started_at, dt.UTC)
        recorded = {
            "version": _VERSION,
            "agent": turn.session.agent.label,
            "recorded_at": f"{recorded_at:%Y-%m-%d %H:%M} UTC",
            "prompt": "".join(
                block.text or ""
                for block in turn.prompt[:1]
                if isinstance(block, (TextBlock, ResourceBlock))
            ),
            "stop_reason": turn.stop_reason,
            "text": turn.text,
            "record": record_of(turn),
        }
        path = _path(key)
        path.parent.mkdir(exist_ok=True)
        draft = path.with_suffix(f".{os.getpid()}.tmp")
        draft.write_text(json.dumps(recorded, indent=1), encoding="utf-8")
        draft.replace(path)


def _path(key: str) -> Path:
    return Path(FOLDER, f"{key}.json")


def _read(raw: Any) -> RecordedTurn:
    if raw["version"] != _VERSION:
        raise ValueError("recorded by another version")
    record = {mime: str(raw["record"][mime]) for mime in _MIMES}
    names = ("text", "stop_reason", "agent", "recorded_at")
    text, stop_reason, agent, recorded_at = (str(raw[name]) for name in names)
    return RecordedTurn(text, stop_reason, agent, recorded_at, record)

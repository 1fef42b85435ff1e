"""`--cache`: turns kept in files beside the notebook, so that it can be run again without an agent.

A recorded turn is found by the prompt as it is sent, all that goes with it, and the agent that was
started. Neither the conversation before it nor the agent's mode and model count. A file holds the
turn's record and text; its HTML passes a wall before it is shown, for a file may come from anybody.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from acp_notebook.errors import AgentError
from acp_notebook.protocol.content import write_block
from acp_notebook.session.content import ContentBlock, ResourceBlock, TextBlock

if TYPE_CHECKING:
    from acp_notebook.client.turn import CodeBlock, Turn

FOLDER = ".acp_cache"
_VERSION = 1
_MIMES = ("text/html", "text/markdown", "text/plain")
_TAGS = frozenset(
    "div span p br hr h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code em strong s b i u a img table "  # noqa: SIM905
    "thead tbody tr th td details summary".split()
)
_ATTRIBUTES = {"style", "title", "dir", "class", "role", "aria-label", "colspan", "scope"}
_MORE = {"a": {"href", "target"}, "img": {"src", "alt"}, "details": {"open"}}
# Looks that fetch something, or leave their place on the page.
_BAD_STYLE = re.compile(r"url\s*\(|\\|/\*|@|expression|position\s*:|fixed|z-index", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RecordedTurn:
    """A turn as it was recorded; the agent was not asked. Has what a finished `Turn` tells."""

    text: str
    stop_reason: str
    agent: str
    recorded_at: str
    record: dict[str, str] = field(repr=False)
    error: None = None
    is_done: bool = True

    @property
    def outcome(self) -> str:
        """How it ended."""
        return self.stop_reason

    @property
    def code_blocks(self) -> list[CodeBlock]:
        """The fenced blocks of the reply, in order."""
        from acp_notebook.client.turn import find_code_blocks

        return find_code_blocks(self.text)

    def to_markdown(self) -> str:
        """The record as Markdown, marked as a recording."""
        return f"*{self._mark}*\n\n{self.record['text/markdown']}"

    def wait(self, timeout: float | None = None) -> Self:
        """It is over already."""
        del timeout
        return self

    def raise_for_stop(self) -> Self:
        """Only turns that ended well are recorded."""
        return self

    @property
    def _mark(self) -> str:
        return f"Recorded turn of {self.agent}, {self.recorded_at}. The agent was not asked."

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        from markupsafe import Markup

        style = "margin:0 0 6px 0;font-size:12px;color:#808488"
        head = Markup('<div style="{}">{}</div>').format(style, self._mark)
        return {
            "text/html": str(head) + _behind_wall(self.record["text/html"]),
            "text/markdown": self.to_markdown(),
            "text/plain": f"{self._mark}\n\n{self.record['text/plain']}",
        }


class TurnCache:
    """The recorded turns of the present folder, and the agents that could not start for them."""

    def __init__(self) -> None:
        self._origins: dict[str, str] = {}
        self._missing: dict[str, str] = {}
        self._present: str | None = None

    def agent_started(self, label: str, origin: str) -> None:
        """Note what is behind a label: the name or the command that the user gave."""
        self._origins[label] = origin
        self._missing.pop(label, None)
        self._present = None

    def agent_missing(self, label: str, origin: str, reason: str) -> None:
        """An agent could not start; recorded turns may stand in for it."""
        self._origins[label] = origin
        self._missing[label] = reason
        self._present = label

    def stand_in(self, label: str | None) -> str | None:
        """The label of the missing agent that is meant, if one is."""
        meant = label or self._present
        return meant if meant in self._missing else None

    def check_present(self, label: str | None) -> None:
        """Say why there is no turn, if its agent could not start.

        Raises:
            AgentError: It could not.
        """
        meant = self.stand_in(label)
        if meant is not None:
            raise AgentError(
                f"No turn is recorded for this prompt in {FOLDER}, and {meant} could not start: "
                f"{self._missing[meant]}"
            )

    def key(self, label: str, content: Sequence[ContentBlock]) -> str:
        """What a turn is found by."""
        origin = self._origins.get(label, label)
        told = json.dumps([_VERSION, origin, [write_block(block) for block in content]])
        return hashlib.sha256(told.encode(errors="surrogatepass")).hexdigest()[:24]

    def find(self, key: str) -> RecordedTurn | None:
        """The turn recorded under a key; a file that is none counts as absent."""
        try:
            raw = json.loads(_path(key).read_text(encoding="utf-8"))
            return _read(raw)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def keep(self, key: str, turn: Turn) -> None:
        """Record a turn that ended well; others are asked again next time."""
        if turn.stop_reason != "end_turn" or turn.error is not None:
            return
        from acp_notebook.client.turn_record import record_of

        recorded_at = dt.datetime.fromtimestamp(turn.started_at, dt.UTC)
        told = {
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
        draft.write_text(json.dumps(told, indent=1), encoding="utf-8")
        draft.replace(path)


def _path(key: str) -> Path:
    return Path(FOLDER, f"{key}.json")


def _read(raw: Any) -> RecordedTurn:
    if raw["version"] != _VERSION:
        raise ValueError("recorded by another version")
    record = {mime: str(raw["record"][mime]) for mime in _MIMES}
    return RecordedTurn(
        text=str(raw["text"]),
        stop_reason=str(raw["stop_reason"]),
        agent=str(raw["agent"]),
        recorded_at=str(raw["recorded_at"]),
        record=record,
    )


def _behind_wall(html: str) -> str:
    """The record's HTML with what it needs and nothing that runs, fetches or covers the page."""
    import nh3

    return nh3.clean(
        html,
        tags=set(_TAGS),
        attributes={tag: _ATTRIBUTES | _MORE.get(tag, set()) for tag in _TAGS},
        attribute_filter=_keep_attribute,
        url_schemes={"http", "https", "mailto", "data"},
        link_rel="noopener noreferrer",
    )


def _keep_attribute(tag: str, name: str, value: str) -> str | None:
    from acp_notebook.render.parsing.markdown import is_data_image, is_safe_link

    if name == "style":
        return None if _BAD_STYLE.search(value) else value
    if name == "src":
        return value if tag == "img" and is_data_image(value) else None
    if name == "href":
        return value if is_safe_link(value) else None
    return value

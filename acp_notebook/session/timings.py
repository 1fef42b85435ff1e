"""The durations of thoughts and tool calls, by the times of their updates. Has no clock.

The wire carries no times, so the caller measures on arrival.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass

from acp_notebook.session.changes import EntryChanged, HeaderChanged, PromptChanged, SessionChange
from acp_notebook.session.state import EntryKey, SessionState
from acp_notebook.session.updates import PermissionId, ToolCallId, ToolCallSubject


@dataclass(slots=True)
class Span:
    """A span of time; without `ended_s` it has not ended."""

    began_s: float
    ended_s: float | None = None

    @property
    def seconds(self) -> float | None:
        """The duration after the end."""
        return None if self.ended_s is None else self.ended_s - self.began_s


class Timings:
    """The spans of a session's thoughts and tool calls, on the clock of `note`."""

    def __init__(self) -> None:
        self.spans: dict[EntryKey, Span] = {}
        self._thought: Span | None = None
        self._started: set[EntryKey] = set()

    def excerpt(self, keys: Iterable[EntryKey]) -> Timings:
        """Return a copy of these entries' spans, for another thread."""
        found = Timings()
        found.spans = {key: copy(self.spans[key]) for key in keys if key in self.spans}
        return found

    def note(self, state: SessionState, changes: Iterable[SessionChange], now_s: float) -> None:
        """Note the time of changes."""
        for change in changes:
            is_end = isinstance(change, HeaderChanged | PromptChanged) and state.is_idle
            if is_end and not state.open_prompts:
                self.end_thought(now_s)
            if not isinstance(change, EntryChanged):
                continue
            key = change.key
            if key.kind == "thought":
                self._note_thought(key, now_s)
                continue
            self.end_thought(now_s)
            if key.kind == "tool_call":
                self._note_call(state, key, now_s)
            elif key.kind == "permission":
                self._note_answer(state, PermissionId(key.id), now_s)

    def _note_thought(self, key: EntryKey, now_s: float) -> None:
        span = self.spans.setdefault(key, Span(now_s))
        if span is not self._thought:
            self.end_thought(now_s)
        span.ended_s = None
        self._thought = span

    def end_thought(self, now_s: float) -> None:
        """End the present thought."""
        if self._thought is not None:
            self._thought.ended_s = now_s
            self._thought = None

    def _note_call(self, state: SessionState, key: EntryKey, now_s: float) -> None:
        call = state.tool_calls[ToolCallId(key.id)]
        span = self.spans.setdefault(key, Span(now_s))
        if call.status == "in_progress" and key not in self._started:
            self._started.add(key)
            span.began_s = now_s
        if not call.is_finished:
            span.ended_s = None
        elif call.status in {"cancelled", "interrupted"} and key not in self._started:
            del self.spans[key]  # it never ran
        elif span.ended_s is None:
            span.ended_s = now_s

    def _note_answer(self, state: SessionState, permission_id: PermissionId, now_s: float) -> None:
        # Some agents do not report the start of a call: then it begins with the user's answer, as
        # the time before is the user's.
        permission = state.permissions.get(permission_id)
        subject = permission.request.subject if permission and not permission.is_open else None
        if isinstance(subject, ToolCallSubject):
            key = EntryKey("tool_call", subject.tool_call_id)
            if key in self.spans and key not in self._started:
                self.spans[key].began_s = now_s

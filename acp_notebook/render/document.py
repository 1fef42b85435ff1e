"""One turn's view as operations for a page: the changes since the last call, or a snapshot.

A document reads the session's state on the thread that owns it and keeps what was sent, so that a
page which missed something gets a snapshot. Knows no clock and no page: the presenter decides when
to send.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from itertools import islice

from markupsafe import Markup

from acp_notebook.budget import Budget
from acp_notebook.render import operations as op
from acp_notebook.render.announcements import Announcements
from acp_notebook.render.entries.beat import BEAT_SECONDS, draw, draw_again, draw_terminals
from acp_notebook.render.entries.form_entry import STREAMED, entry_type
from acp_notebook.render.entries.kinds import OURS
from acp_notebook.render.entries.live_entry import CardEntry, LiveTerminal, StreamEntry
from acp_notebook.render.header import (
    Ending,
    render_controls,
    render_earlier,
    render_foot,
    render_head,
    render_now,
    render_usage,
)
from acp_notebook.render.markup import live_theme
from acp_notebook.render.operations import Operation
from acp_notebook.render.virtual_list import VirtualList
from acp_notebook.session.changes import (
    EntryChanged,
    EntryRemoved,
    HeaderChanged,
    PromptChanged,
    SessionChange,
    TerminalChanged,
)
from acp_notebook.session.elicitation import Elicitation, ElicitationId
from acp_notebook.session.state import REQUIRES_ACTION, RUNNING, EntryKey, SessionState
from acp_notebook.session.timings import Timings
from acp_notebook.session.updates import (
    Failure,
    PermissionId,
    PromptId,
    TerminalId,
    ToolCallId,
)

_TERMINALS_AT_ONCE = 200
_SETTLED = STREAMED | {"plan"}
_SLOTS = ("head", "usage", "controls", "now", "earlier", "foot")


class TurnDocument:
    """The entries of one turn, with a header and a last line.

    Args:
        state: The session, read only.
        keys: The turn's entries so far; later ones come with their changes.
        agent_name: The agent's name for the reader.
        timings: Start and end of the session's entries.
        began_s: The start of the turn on the same clock.
        owns: Whether an entry that is not shown yet belongs here, such as a lone terminal.
        folder: The notebook's folder, the base of files that a page can open.
        slots: The parts of the header and the last line to show.
    """

    def __init__(
        self,
        state: SessionState,
        keys: Iterable[EntryKey] = (),
        *,
        agent_name: str,
        timings: Timings | None = None,
        began_s: float = 0.0,
        owns: Callable[[EntryKey], bool] = lambda _: True,
        folder: str = "",
        slots: Collection[str] = _SLOTS,
    ) -> None:
        self._state = state
        self._agent_name = agent_name
        self._began_s = began_s
        self._owns = owns
        self._theme = live_theme()
        self._theme.agent_name = agent_name
        self._theme.spans = (timings or Timings()).spans
        self._theme.folder = folder
        self._entries: dict[EntryKey, CardEntry | StreamEntry] = {}
        self._keys: dict[str, EntryKey] = {}
        self._window = VirtualList()
        self._terminals: dict[TerminalId, LiveTerminal] = {}
        self._dirty: dict[EntryKey, None] = {}
        self._dirty_terminals: dict[TerminalId, None] = {}
        self._removed: list[str] = []
        self._announcements = Announcements(agent_name)
        self._created = 0
        self._activity = state.activity
        self._thinking: EntryKey | None = None
        self._ending: Ending | None = None
        self._is_over = False
        self._has_spoken = False
        self._slots = dict.fromkeys(slots, Markup(""))
        for key in keys:
            self._touch(key)
            if key.kind == "terminal":
                self._dirty_terminals[TerminalId(key.id)] = None

    @property
    def keys(self) -> list[EntryKey]:
        """The shown entries, in order."""
        return list(self._entries)

    @property
    def is_asking(self) -> bool:
        """Whether the session waits for an answer of the user."""
        return self._state.has_questions

    @property
    def is_behind(self) -> bool:
        """Whether the next `ops` has more to show, without any change."""
        return bool(self._dirty or self._dirty_terminals) and not self._is_over

    def note(self, changes: Iterable[SessionChange]) -> bool:
        """Note changes to draw; return True if the reader should see them at once."""
        if self._ending is not None:
            return False
        urgent = False
        for change in changes:
            urgent |= self._note(change)
        return urgent

    def finish(
        self,
        stop_reason: str | None,
        failure: Failure | None = None,
        elapsed_s: float | None = None,
    ) -> None:
        """End the turn: the `ops` until nothing `is_behind` are the last."""
        self._ending = Ending(stop_reason, failure, elapsed_s)
        # Streams close their open tail and plans fold; other entries stay as drawn.
        self._dirty |= {key: None for key in self._entries if key.kind in _SETTLED}
        self._theme.is_over = True
        self._announcements.say(f"{self._agent_name}: {self._ending.words.text}.")

    def ops(self) -> list[Operation]:
        """Return the operations since the last call."""
        if self._is_over:
            return []
        beat = Budget(BEAT_SECONDS)
        found = [op.remove(ident) for ident in self._removed]
        self._removed.clear()
        self._mark_thinking()
        found += self._window_operations()
        found += self._entry_operations(beat)
        found += self._terminal_operations(beat)
        found += self._slot_operations()
        self._is_over = self._ending is not None and not self.is_behind
        return found + self._announcements.operations()

    def snapshot(self) -> list[Operation]:
        """Return the result of all `ops` so far, for a new or reloaded page."""
        found = [op.clear(), *(op.fill(slot, html) for slot, html in self._slots.items())]
        for key, entry in self._entries.items():
            if key in self._window.hidden:
                continue
            found += entry.snapshot()
            for place, terminal_id in entry.places.items():
                if terminal_id in self._terminals:
                    found += self._terminals[terminal_id].snapshot(place)
        return found

    def show_earlier(self) -> None:
        """Show more of the earlier entries, in the next snapshot."""
        back = self._window.widen()
        self._dirty |= draw_again(self._entries, back, self._state, self._theme)
        for key in back:
            self._dirty_terminals |= dict.fromkeys(self._entries[key].places.values())
        if self._ending is not None:
            self._dirty |= {key: None for key in back if key.kind in _SETTLED}
            self._is_over = False  # until these are finished too
        self._terminal_operations(Budget(BEAT_SECONDS))
        self._slot_operations()

    def permission_answer(
        self, ident: str, number: int, revision: object
    ) -> tuple[PermissionId, str] | None:
        """Return the open request and the option of a button; None if the answer does not count.

        It does not if the request is settled, or if the page showed another revision of it. A
        question that has yet to be drawn anew is drawn next, as the page waits for its buttons.
        """
        key = self._key_of(ident, "permission")
        permission = self._state.permissions.get(PermissionId(key.id)) if key else None
        entry = self._entries[key] if key and permission and permission.is_open else None
        if permission is None or not isinstance(entry, CardEntry) or entry.revision != revision:
            return None
        if entry.key in self._dirty:
            entry.renew()
            self._dirty = {entry.key: None, **self._dirty}
            return None
        options = permission.request.options
        is_offered = 0 <= number < len(options)
        return (permission.request.permission_id, options[number].option_id) if is_offered else None

    def elicitation(self, ident: str) -> Elicitation | None:
        """Return the open form or url of a button; None if it is settled."""
        key = self._key_of(ident, "elicitation")
        found = self._state.elicitations.get(ElicitationId(key.id)) if key else None
        return found if found is not None and found.is_open else None

    def queued_prompt(self, ident: str) -> PromptId | None:
        """Return the queued prompt of a button; None if it was sent or withdrawn."""
        key = self._key_of(ident, "prompt")
        prompt = self._state.prompts.get(PromptId(key.id)) if key else None
        return prompt.prompt_id if prompt is not None and prompt.phase == "queued" else None

    def tool_call(self, ident: str) -> ToolCallId | None:
        """Return the tool call of a button."""
        key = self._key_of(ident, "tool_call")
        return ToolCallId(key.id) if key else None

    def _key_of(self, ident: str, kind: str) -> EntryKey | None:
        key = self._keys.get(ident)
        return key if key is not None and key.kind == kind else None

    def has_option(self, option_id: str, value: str) -> bool:
        """Whether the session has an option with this choice."""
        return any(
            option.id == option_id and any(choice.value == value for choice in option.choices)
            for option in self._state.config_options
        )

    def renew_controls(self) -> None:
        """Send all options again, after a choice was answered."""
        if "controls" in self._slots:
            self._slots["controls"] = Markup("")

    # changes

    def _note(self, change: SessionChange) -> bool:
        match change:
            case EntryChanged(key=key):
                return self._entry_changed(key)
            case EntryRemoved(key=key):
                self._forget(key)
            case TerminalChanged(terminal_id=terminal_id, appended=appended):
                self._terminal_changed(terminal_id, is_output_only=appended is not None)
            case HeaderChanged():
                return self._activity_changed()
            case PromptChanged(prompt_id=prompt_id):
                key = EntryKey("prompt", prompt_id)
                if key in self._entries:
                    self._dirty[key] = None
            case _:
                pass
        return False

    def _entry_changed(self, key: EntryKey) -> bool:
        self._touch(key)
        if key.kind == "permission":
            self._announcements.permission(self._state.permissions[PermissionId(key.id)])
            return True
        if key.kind == "elicitation":
            self._announcements.elicitation(self._state.elicitations[ElicitationId(key.id)])
            return True
        if key.kind == "tool_call":
            self._touch_relatives(ToolCallId(key.id))
        is_first = not self._has_spoken and key.kind not in OURS
        self._has_spoken |= is_first
        return is_first

    def _touch(self, key: EntryKey) -> None:
        if key not in self._entries:
            ident = f"e{self._created}"
            self._created += 1
            self._entries[key] = entry_type(key)(key, ident, self._theme)
            self._keys[ident] = key
            self._touch_plans(key)
        self._dirty[key] = None

    def _touch_plans(self, key: EntryKey) -> None:
        if key.kind == "plan":  # plans show their names only while there are several
            self._dirty |= {other: None for other in self._entries if other.kind == "plan"}

    def _touch_relatives(self, tool_call_id: ToolCallId) -> None:
        """Redraw the terminals that a call shows, and the open questions about it."""
        shown = self._entries[EntryKey("tool_call", tool_call_id)].places.values()
        for terminal_id in [*shown, *self._state.tool_calls[tool_call_id].terminal_ids]:
            self._dirty_terminals[terminal_id] = None
            lone = EntryKey("terminal", terminal_id)
            if lone in self._entries:
                self._dirty[lone] = None
        for key in self._questions_about(tool_call_id):
            self._dirty[key] = None

    def _questions_about(self, tool_call_id: ToolCallId) -> list[EntryKey]:
        return [key for key in self._state.asked.about(tool_call_id) if key in self._entries]

    def _terminal_changed(self, terminal_id: TerminalId, *, is_output_only: bool) -> None:
        lone = EntryKey("terminal", terminal_id)
        self._dirty_terminals[terminal_id] = None
        if (lone not in self._entries or not is_output_only) and self._owns(lone):
            self._touch(lone)
        is_first = terminal_id not in self._terminals
        self._live(terminal_id)
        if not is_output_only or is_first:
            self._dirty |= dict.fromkeys(self._showing([terminal_id]))

    def _activity_changed(self) -> bool:
        # Not `idle`: the end of the turn follows at once, with its outcome.
        before, self._activity = self._activity, self._state.activity
        return before != self._activity and self._activity == REQUIRES_ACTION

    def _forget(self, key: EntryKey) -> None:
        entry = self._entries.pop(key, None)
        self._dirty.pop(key, None)
        self._touch_plans(key)
        is_hidden = self._window.forget(key)
        if entry is None:
            return
        del self._keys[entry.ident]
        if entry.is_placed and not is_hidden:
            self._removed.append(entry.ident)

    # operations

    def _entry_operations(self, beat: Budget) -> list[Operation]:
        hidden = self._window.hidden
        dirty = {key: None for key in self._dirty if key in self._entries and key not in hidden}
        is_last = self._ending is not None
        found, self._dirty = draw(self._entries, dirty, self._state, beat, is_last=is_last)
        return found

    def _window_operations(self) -> list[Operation]:
        leaving = self._window.leaving(self._entries, self._state.asked)
        return [op.remove(self._entries[key].ident) for key in leaving]

    def _mark_thinking(self) -> None:
        last = next(reversed(self._entries), None)
        is_running = self._ending is None and self._state.activity == RUNNING
        thinking = last if last and last.kind == "thought" and is_running else None
        if thinking == self._thinking:
            return
        for key in (self._thinking, thinking):
            entry = self._entries.get(key) if key else None
            if key and isinstance(entry, StreamEntry):
                entry.is_active = key == thinking
                self._dirty[key] = None
        self._thinking = thinking

    def _terminal_operations(self, beat: Budget) -> list[Operation]:
        dirty = (key for key in self._dirty_terminals if key in self._state.terminals)
        self._dirty_terminals = dict.fromkeys(dirty)
        batch = list(islice(self._dirty_terminals, _TERMINALS_AT_ONCE))
        places: dict[TerminalId, list[str]] = {}
        for key in self._showing(batch):
            for place, terminal_id in self._entries[key].places.items():
                places.setdefault(terminal_id, []).append(place)
        live = {terminal_id: self._live(terminal_id) for terminal_id in batch}
        found, drawn = draw_terminals(live, self._state, places, beat)
        self._dirty_terminals = {key: None for key in self._dirty_terminals if key not in drawn}
        return found

    def _live(self, terminal_id: TerminalId) -> LiveTerminal:
        if terminal_id not in self._terminals:
            self._terminals[terminal_id] = LiveTerminal(self._theme)
        return self._terminals[terminal_id]

    def _showing(self, terminal_ids: Iterable[TerminalId]) -> list[EntryKey]:
        found: dict[EntryKey, None] = {}
        for terminal_id in terminal_ids:
            for owner in self._state.terminal_owners.get(terminal_id, ()):
                found |= dict.fromkeys(
                    [EntryKey("tool_call", owner), *self._questions_about(owner)]
                )
            found[EntryKey("terminal", terminal_id)] = None
        return [key for key in found if key in self._entries]

    def _slot_operations(self) -> list[Operation]:
        theme, state, ending = self._theme, self._state, self._ending
        is_empty = not any(key.kind not in OURS for key in self._entries)
        fresh = {
            "head": render_head(theme, state, self._agent_name),
            "usage": render_usage(theme, state.usage, len(state.background or ())),
            "controls": render_controls(theme, state, is_over=ending is not None),
            "now": render_now(theme, state, ending, self._began_s),
            "earlier": render_earlier(theme, len(self._window.hidden)),
            "foot": render_foot(theme, state, ending, self._entries, is_empty=is_empty),
        }
        changed = {
            slot: html for slot, html in fresh.items() if html != self._slots.get(slot, html)
        }
        self._slots |= changed
        return [op.fill(slot, html) for slot, html in changed.items()]

"""Plays a recorded story through a reader into a session state, the way the client does it.

A trace is a file of one JSON object a line, in wire order: `{"from": "client" | "agent",
"message": {...}}` with a whole JSON-RPC message, or `{"from": "agent", "ended": {"status",
"stderr"}}` where the agent's process ends. `snapshot` turns the state into plain JSON in which ids
are named by their order of appearance, because v1's are made up by the reader.

Knows no pytest, so that `scripts/generate-traces` can use it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path

from acp_notebook.protocol import negotiate
from acp_notebook.session import updates as u
from acp_notebook.session.content import read_block
from acp_notebook.session.reducer import apply
from acp_notebook.session.state import EntryKey, SessionState

TRACES = Path(__file__).parent.parent / "traces"
VERSIONS = (1, 2)


def stories():
    """The names of all stories."""
    return sorted(path.name for path in TRACES.iterdir() if path.is_dir())


def trace_path(story, version):
    """Where the trace of a story is, if there is one."""
    return TRACES / story / f"v{version}.jsonl"


def versions_of(story):
    """The versions that a story can be told in."""
    return [version for version in VERSIONS if trace_path(story, version).exists()]


def read_trace(story, version):
    """The lines of a trace."""
    return [json.loads(line) for line in trace_path(story, version).read_text().splitlines()]


def state_path(story):
    """Where the expected state of a story is."""
    return TRACES / story / "state.json"


def state_text(story):
    """The state file of a story as it should be, made from its richest version."""
    state = play(read_trace(story, versions_of(story)[-1]))
    return json.dumps(snapshot(state), indent=2, ensure_ascii=False) + "\n"


def play(lines):
    """The state at the end of a trace."""
    player = TracePlayer()
    for line in lines:
        player.line(line)
    return player.state


class TracePlayer:
    """Feeds messages, in order, to the dialect's reader and the reducer."""

    def __init__(self):
        self.state = SessionState()
        self.dialect = None
        self.reader = None
        self._asked = {"client": {}, "agent": {}}
        self._prompts = {}

    def line(self, line):
        """Take one line of a trace."""
        if "ended" in line:
            ended = line["ended"]
            reason = f"The agent ended with {ended['status']}."
            self._apply([u.AgentLost(reason, ended["stderr"])])
            return
        message, sender = line["message"], line["from"]
        if "method" not in message:
            asker = "client" if sender == "agent" else "agent"
            asked = self._asked[asker].pop(message["id"])
            self._answered(sender, asked, message)
            return
        if "id" in message:
            self._asked[sender][message["id"]] = message
        self._called(sender, message)

    def _apply(self, updates):
        for update in updates:
            apply(self.state, update)

    def _called(self, sender, message):
        params = message["params"]
        match sender, message["method"]:
            case "client", "session/prompt":
                prompt_id = u.PromptId(f"prompt {message['id']}")
                self._prompts[message["id"]] = prompt_id
                content = tuple(read_block(block) for block in params["prompt"])
                self._apply(self.reader.prompt_sent(prompt_id, content))
            case "client", "session/cancel":
                self._apply(self.reader.cancel_sent())
            case "agent", "session/update":
                self._apply(self.reader.update(params["update"]))
            case "agent", "session/request_permission":
                permission_id = u.PermissionId(f"permission {message['id']}")
                self._apply(self.reader.permission_asked(permission_id, params))
            case "client", ("initialize" | "session/new"):
                pass
            case other:
                raise ValueError(f"a trace cannot play {other}")

    def _answered(self, sender, asked, message):
        match sender, asked["method"]:
            case "agent", "initialize":
                version = asked["params"]["protocolVersion"]
                self.dialect = negotiate.read_answer(message["result"], asked=version).dialect
                self.reader = self.dialect.reader()
            case "agent", "session/new":
                self._apply(self.reader.opened(message["result"]))
            case "agent", "session/prompt":
                self._prompt_answered(self._prompts[asked["id"]], message)
            case "client", "session/request_permission":
                permission_id = u.PermissionId(f"permission {asked['id']}")
                option_id = message["result"]["outcome"].get("optionId")
                settled = u.PermissionSettled(permission_id, option_id, "you")
                self._apply(self.reader.permission_settled(settled))

    def _prompt_answered(self, prompt_id, message):
        if "error" in message:
            error = message["error"]
            failure = u.Failure(error["message"], error["code"], error.get("data"))
            self._apply(self.reader.prompt_failed(prompt_id, failure))
        else:
            self._apply(self.reader.prompt_answered(prompt_id, message["result"]))


# ---------------------------------------------------------------- the state as JSON

# Members that hold an id, or a mapping or list of ids, and what they name.
ID_MEMBERS = {
    "message_id": "message",
    "tool_call_id": "tool_call",
    "tool_calls": "tool_call",
    "terminal_id": "terminal",
    "terminals": "terminal",
    "terminal_owners": "terminal",
    "plan_id": "plan",
    "plans": "plan",
    "permission_id": "permission",
    "permissions": "permission",
    "prompt_id": "prompt",
    "prompts": "prompt",
    "pending": "prompt",
    "last_ended": "prompt",
    "owners": "prompt",
}
MESSAGE_KINDS = ("user", "agent", "thought")
# Any JSON of the agent's, which is kept as it came.
VERBATIM = {"raw", "raw_input", "raw_output", "meta", "data"}


def snapshot(state):
    """The state as JSON, without what equality ignores and without what is at its default."""
    return _Names().encode(state)


class _Names:
    def __init__(self):
        self._known = {}
        self._counts = {}

    def name(self, kind, value):
        """A name for an id by the order of its appearance."""
        if value is None:
            return None
        if (kind, value) not in self._known:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            self._known[kind, value] = f"{kind}-{self._counts[kind]}"
        return self._known[kind, value]

    def entry(self, key):
        kind = "message" if key.kind in MESSAGE_KINDS else key.kind
        return f"{key.kind} {self.name(kind, key.id)}"

    def encode(self, value, member=""):
        if member in VERBATIM:
            return value
        if isinstance(value, EntryKey):
            return self.entry(value)
        if is_dataclass(value):
            return self._record(value)
        if isinstance(value, Mapping):
            return {
                self._key(key, member): self.encode(item, member) for key, item in value.items()
            }
        if isinstance(value, (list, tuple)):
            # The one list of ids: a terminal's owners are tool calls.
            inner = "tool_call_id" if member == "terminal_owners" else member
            return [self.encode(item, inner) for item in value]
        if isinstance(value, (bytes, bytearray)):
            return value.decode("utf-8", "backslashreplace")
        if member in ID_MEMBERS:
            return self.name(ID_MEMBERS[member], value)
        return value

    def _key(self, key, member):
        return self.entry(key) if isinstance(key, EntryKey) else self.name(ID_MEMBERS[member], key)

    def _record(self, record):
        encoded = {} if isinstance(record, SessionState) else {"is": type(record).__name__}
        for field in fields(record):
            value = getattr(record, field.name)
            if field.compare and value != _default(field):
                is_option_id = isinstance(record, u.ConfigOption) and field.name == "id"
                encoded[field.name] = (
                    self.name("option", value) if is_option_id else self.encode(value, field.name)
                )
        return encoded


def _default(field):
    if field.default_factory is not MISSING:
        return field.default_factory()
    return field.default

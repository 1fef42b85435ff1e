"""Plays a recorded story through readers into session states, the way the client does it.

A trace is a file of one JSON object a line, in wire order: `{"from": "client" | "agent",
"message": {...}}` with a whole JSON-RPC message, or `{"from": "agent", "ended": {"status",
"stderr"}}` where the agent's process ends. `snapshot` turns a state into plain JSON in which ids
are named by their order of appearance, because v1's are made up by the reader.

Knows no pytest, so that `scripts/generate-traces` can use it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path

from acp_notebook.protocol import elicitation, negotiate
from acp_notebook.protocol.content import read_block
from acp_notebook.session import updates as u
from acp_notebook.session.content import Content
from acp_notebook.session.elicitation import ElicitationId, ElicitationSettled, UrlCompleted
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
    states = play(read_trace(story, versions_of(story)[-1]))
    return json.dumps(snapshot(states), indent=2, ensure_ascii=False) + "\n"


def play(lines):
    """The state of every session at the end of a trace, by the session's id."""
    player = TracePlayer()
    for line in lines:
        player.line(line)
    return player.states


def lines_of(lines, session_id):
    """The lines of a trace that a connection with this one session would have."""
    asked = {}
    kept = []
    for line in lines:
        message = line.get("message", {})
        params = message.get("params", {})
        if "method" in message:
            asked[message.get("id")] = params.get("sessionId")
            belongs_to = params.get("sessionId")
        else:
            result = message.get("result", {})
            belongs_to = asked.get(message.get("id")) or result.get("sessionId")
        if belongs_to in (None, session_id):
            kept.append(line)
    return kept


class PlayedSession:
    """A session's state, and the reader that feeds it."""

    def __init__(self, reader):
        self.reader = reader
        self.state = SessionState()

    def apply(self, updates):
        """Apply what the reader made of a message."""
        for update in updates:
            apply(self.state, update)

    def option(self, method, params):
        """The option that a call sets; v1 has a call of its own for modes."""
        is_mode = method == "session/set_mode"
        return next(
            option
            for option in self.state.config_options
            if (option.category == "mode" if is_mode else option.id == params["configId"])
        )


class TracePlayer:
    """Feeds messages, in order, to their session's reader and the reducer."""

    def __init__(self):
        self.negotiated = None
        self.sessions = {}
        self._asked = {"client": {}, "agent": {}}

    @property
    def dialect(self):
        """The dialect that was agreed on."""
        return self.negotiated.dialect

    @property
    def states(self):
        """The state of every session by its id."""
        return {key: session.state for key, session in self.sessions.items()}

    @property
    def unanswered(self):
        """The client's requests that the agent has not answered."""
        return list(self._asked["client"].values())

    def line(self, line):
        """Take one line of a trace."""
        if "ended" in line:
            ended = line["ended"]
            reason = f"The agent ended with {ended['status']}."
            for session in self.sessions.values():
                session.apply([u.AgentLost(reason, ended["stderr"])])
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

    def _open(self, session_id):
        self.sessions[session_id] = PlayedSession(self.dialect.reader())
        return self.sessions[session_id]

    def _called(self, sender, message):
        params = message["params"]
        session = self.sessions.get(params.get("sessionId"))
        match sender, message["method"]:
            case "client", "session/load" | "session/resume":
                # Known before the agent answers: a replay comes before the answer.
                self._open(params["sessionId"])
            case "client", "session/prompt":
                content = tuple(read_block(block) for block in params["prompt"])
                session.apply(session.reader.prompt_sent(_prompt_id(message), content))
            case "client", "session/cancel":
                session.apply(session.reader.cancel_sent())
            case "agent", "session/update":
                session.apply(session.reader.update(params["update"]))
            case "agent", "session/request_permission":
                permission_id = u.PermissionId(f"permission {message['id']}")
                session.apply(session.reader.permission_asked(permission_id, params))
            case "agent", elicitation.CREATE:
                session.apply(session.reader.elicitation_asked(_elicitation_id(message), params))
            case "agent", elicitation.COMPLETE:
                completed = UrlCompleted(elicitation.completed_url(params))
                for each in self.sessions.values():
                    each.apply([completed])
            case "client", (
                "initialize" | "session/new" | "session/set_mode" | "session/set_config_option"
            ):
                pass
            case other:
                raise ValueError(f"a trace cannot play {other}")

    def _answered(self, sender, asked, message):
        params, result = asked["params"], message.get("result")
        session = self.sessions.get(params.get("sessionId"))
        match sender, asked["method"]:
            case "agent", "initialize":
                self.negotiated = negotiate.read_answer(result, asked=params["protocolVersion"])
            case "agent", "session/new":
                session = self._open(result["sessionId"])
                session.apply(session.reader.opened(result))
            case "agent", "session/load" | "session/resume":
                session.apply(session.reader.opened(result))
            case "agent", ("session/set_mode" | "session/set_config_option") as method:
                value = params.get("value", params.get("modeId"))
                option = session.option(method, params)
                session.apply(session.reader.option_set(option, value, result))
            case "agent", "session/prompt":
                self._prompt_answered(session, _prompt_id(asked), message)
            case "client", "session/request_permission":
                permission_id = u.PermissionId(f"permission {asked['id']}")
                option_id = result["outcome"].get("optionId")
                settled = u.PermissionSettled(permission_id, option_id, "you")
                session.apply(session.reader.permission_settled(settled))
            case "client", elicitation.CREATE:
                self._elicitation_answered(session, _elicitation_id(asked), result)
            case other:
                raise ValueError(f"a trace cannot play the answer to {other}")

    def _prompt_answered(self, session, prompt_id, message):
        if "error" in message:
            error = message["error"]
            failure = u.Failure(error["message"], error["code"], error.get("data"))
            session.apply(session.reader.prompt_failed(prompt_id, failure))
        else:
            session.apply(session.reader.prompt_answered(prompt_id, message["result"]))

    def _elicitation_answered(self, session, elicitation_id, result):
        form = session.state.elicitations[elicitation_id].request.form
        values = result.get("content")
        shown = form.masked(values) if form is not None and values is not None else None
        settled = ElicitationSettled(elicitation_id, result["action"], "you", shown)
        session.apply(session.reader.elicitation_settled(settled))


def _prompt_id(message):
    return u.PromptId(f"prompt {message['id']}")


def _elicitation_id(message):
    return ElicitationId(f"elicitation {message['id']}")


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
    "elicitation_id": "elicitation",
    "elicitations": "elicitation",
    "prompt_id": "prompt",
    "prompts": "prompt",
    "pending": "prompt",
    "last_ended": "prompt",
    "owners": "prompt",
}
MESSAGE_KINDS = ("user", "agent", "thought")
# Any JSON of the agent's, which is kept as it came.
VERBATIM = {"raw", "raw_input", "raw_output", "meta", "data", "rules", "default"}


def snapshot(states):
    """States as JSON, without what equality ignores and without what is at its default.

    A story with one session is told as that session; one with several, by the sessions' ids.
    """
    told = {key: _Names().encode(state) for key, state in states.items()}
    return told if len(told) > 1 else next(iter(told.values()))


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
        if isinstance(value, (list, tuple, Content)):
            # The one list of ids: a terminal's owners are tool calls.
            inner = "tool_call_id" if member == "terminal_owners" else member
            return [self.encode(item, inner) for item in value]
        if isinstance(value, (bytes, bytearray)):
            return value.decode("utf-8", "backslashreplace")
        if member in ID_MEMBERS:
            return self.name(ID_MEMBERS[member], value)
        return value

    def _key(self, key, member):
        if isinstance(key, EntryKey):
            return self.entry(key)
        # A mapping without a kind of id is by words of the agent's, as the values of a form are.
        return self.name(ID_MEMBERS[member], key) if member in ID_MEMBERS else key

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

"""A secret that an agent streams: whole in no text, whatever the pieces, and no other text lost."""

from __future__ import annotations

import base64
import dataclasses
import itertools
import json
import random
import secrets

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_notebook.client.connection.redaction import Redaction
from acp_notebook.client.connection.secret import HIDDEN, LEAST_CHARS
from acp_notebook.client.connection.session_routes import SessionRoutes
from acp_notebook.client.live.live_session import LiveSession
from acp_notebook.jsonrpc import parse
from acp_notebook.protocol.v1.dialect import V1Dialect
from acp_notebook.protocol.v2.dialect import V2Dialect
from acp_notebook.session import updates as u
from acp_notebook.session.content import TextBlock
from acp_notebook.trace.recording import Recording

TOKEN = "q9Zt-x_7LkD3vW0aBfRgY5mHcPj2NsUeT8oXiKQ4rVy"
KNOWN = LEAST_CHARS - 1


class Wire:
    """All that an agent's frame passes on its way into a session, and the trace."""

    def __init__(self, *words, version=2, is_open=True):
        self.redaction = Redaction()
        self.redaction.add(words or [TOKEN])
        self.recording = Recording(lambda: 0.0)
        self.routes = SessionRoutes(None, self.redaction, self.recording)
        # Its connection is for what it sends, and it sends nothing here.
        self.session = LiveSession(None, (V1Dialect if version == 1 else V2Dialect)())
        if is_open:
            self.open()

    def open(self):
        self.routes.attach(u.SessionId("s"), self.session, {}, is_new=True)

    def hear(self, update, session_id="s"):
        """Deliver an update; return what the trace has of it."""
        params = {"sessionId": session_id, "update": update}
        self.hear_frame({"jsonrpc": "2.0", "method": "session/update", "params": params})
        return self.told()[-1]

    def hear_frame(self, message):
        frame = self.redaction.in_received(json.dumps(message).encode())
        self.recording.record("received", self.redaction.in_bytes(frame))
        heard = parse(frame)
        self.routes.notification(heard.method, heard.params)

    def told(self):
        return [frame.message["params"]["update"] for frame in self.recording.frames()]

    @property
    def state(self):
        return self.session.state

    def shown(self):
        """Every text that the session has, each as one."""
        state = self.state
        texts = [message.content.text for message in state.messages.values()]
        texts += [bytes(each.output).decode() for each in state.terminals.values()]
        texts += [compaction.summary.text for compaction in state.compactions.values()]
        for call in state.tool_calls.values():
            blocks = [each.block for each in call.content if isinstance(each, u.ContentItem)]
            texts.append("".join(block.text for block in blocks))
        return texts


@pytest.fixture
def redaction():
    redaction = Redaction()
    redaction.add([TOKEN])
    return redaction


@pytest.fixture
def wire():
    return Wire()


def message(text, message_id="m", kind="agent_message_chunk"):
    return {
        "sessionUpdate": kind,
        "messageId": message_id,
        "content": {"type": "text", "text": text},
    }


def nameless(text, kind="agent_message_chunk"):
    """A chunk as most agents of version 1 write it."""
    return {"sessionUpdate": kind, "content": {"type": "text", "text": text}}


def tool_text(text):
    block = {"type": "content", "content": {"type": "text", "text": text}}
    return {"sessionUpdate": "tool_call_content_chunk", "toolCallId": "t", "content": block}


def plain_terminal(text, terminal_id="terminal-1"):
    output = {"terminal_id": terminal_id, "data": text}
    return {
        "sessionUpdate": "tool_call_update",
        "toolCallId": "t",
        "_meta": {"terminal_output": output},
    }


def terminal(text):
    data = base64.b64encode(text.encode()).decode()
    return {"sessionUpdate": "terminal_output_chunk", "terminalId": "e", "data": data}


def text_of(update):
    if update["sessionUpdate"] == "terminal_output_chunk":
        return base64.b64decode(update["data"]).decode()
    if "_meta" in update:
        return update["_meta"]["terminal_output"]["data"]
    content = update["content"]
    return content["text"] if "text" in content else content["content"]["text"]


def said(wire, pieces, write=message):
    """What the trace has of a text in pieces; the session must have the same."""
    before = len(wire.told())
    for piece in pieces:
        wire.hear(write(piece))
    text = "".join(text_of(update) for update in wire.told()[before:])
    assert text in wire.shown()
    return text


def cut(text, *places):
    edges = [0, *sorted(places), len(text)]
    return [text[first:last] for first, last in itertools.pairwise(edges)]


STREAMS = {
    "message": (2, message),
    "thought": (2, lambda text: message(text, kind="agent_thought_chunk")),
    "tool": (2, tool_text),
    "v2 tty": (2, terminal),
    "v1 tty": (1, plain_terminal),
    "v1 message": (1, nameless),
    "v1 thought": (1, lambda text: nameless(text, "agent_thought_chunk")),
}


@pytest.mark.parametrize(("version", "write"), STREAMS.values(), ids=STREAMS)
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 8, 11, 12, 20, 43, 60])
def test_a_secret_in_pieces_of_any_size_shows_its_beginning_at_most(version, write, size):
    text = f"The token is {TOKEN}, and that was it."
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    shown = said(Wire(version=version), pieces, write)
    before, mark, after = shown.partition(HIDDEN)
    assert mark
    assert before.removeprefix("The token is ") in TOKEN[: KNOWN + 1]
    assert after == ", and that was it."


@given(
    st.lists(st.integers(0, len(TOKEN) + 20), max_size=30),
    st.text(max_size=10),
    st.text(max_size=10),
)
def test_whatever_the_cuts_only_the_secret_is_lost(places, before, after):
    text = f"{before} {TOKEN} {after}"
    shown = said(Wire(), cut(text, *(min(place, len(text)) for place in places)))
    head, mark, tail = shown.partition(HIDDEN)
    assert mark
    assert text.startswith(head)
    assert len(head) <= len(before) + 1 + KNOWN
    assert tail == f" {after}"


def test_what_stands_between_the_pieces_makes_no_difference(wire):
    texts = dict.fromkeys(("a", "b"), "")
    for index in range(0, len(TOKEN), 4):
        for name in texts:
            texts[name] += text_of(wire.hear(message(TOKEN[index : index + 4], name)))
            wire.hear(message("hm", name, "agent_thought_chunk"))
            wire.hear(terminal("$ "))
    assert texts == dict.fromkeys(texts, TOKEN[:8] + HIDDEN)
    assert wire.shown()[:1] == [TOKEN[:8] + HIDDEN]


def backwards(update):
    return dict(reversed(update.items()))


def text_block(text, **members):
    return {"type": "text", "text": text, **members}


def holding(kind, **members):
    return lambda text: {"sessionUpdate": kind, **{name: of(text) for name, of in members.items()}}


def whole_first(first, then):
    return lambda i, text: [then(text) if i else first(text)]


def always(value):
    return lambda _: value


WHOLE_MESSAGE = holding("agent_message", messageId=always("m"), content=lambda t: [text_block(t)])
WHOLE_OUTPUT = holding(
    "terminal_update", terminalId=always("e"), output=lambda t: {"data": terminal(t)["data"]}
)
WHOLE_CALL = holding(
    "tool_call_update", toolCallId=always("t"), content=lambda t: [tool_text(t)["content"]]
)
SUMMARY = {"compactionId": always("c"), "status": always("in_progress")}
WHOLE_SUMMARY = holding("compaction_update", **SUMMARY, summary=lambda t: [text_block(t)])
SUMMARY_CHUNK = holding("compaction_summary_chunk", **SUMMARY, content=text_block)
FILE = {"type": "resource", "resource": {"uri": "file:///x", "text": "a file"}}

# How an agent may write one text: version, and the updates for a piece by its number.
DISGUISES = {
    "a foreign id each": (2, lambda i, text: [{**message(text), "toolCallId": f"k{i}"}]),
    "a foreign terminal each": (1, lambda i, text: [{**nameless(text), "terminal_id": f"k{i}"}]),
    "keys in any order": (2, lambda i, text: [(backwards if i % 2 else dict)(message(text))]),
    "an id deeper down": (2, lambda i, text: [{**message(text), "_meta": {"messageId": f"k{i}"}}]),
    "other meta each": (2, lambda i, text: [{**message(text), "_meta": {f"k{i}": "x" * i}}]),
    "annotations each": (
        2,
        lambda i, text: [
            {**message(""), "content": text_block(text, annotations={"audience": [f"k{i}"]})}
        ],
    ),
    "an id that the reader gives": (1, whole_first(nameless, lambda t: message(t, "v1-1"))),
    "an id, then none": (1, whole_first(lambda t: message(t, "own"), nameless)),
    "a whole message first": (2, whole_first(WHOLE_MESSAGE, message)),
    "a whole output first": (2, whole_first(WHOLE_OUTPUT, terminal)),
    "a whole call first": (2, whole_first(WHOLE_CALL, tool_text)),
    "a whole summary first": (2, whole_first(WHOLE_SUMMARY, SUMMARY_CHUNK)),
    "files between": (2, lambda _, text: [message(text), {**message(""), "content": FILE}]),
    "violations between": (2, lambda _, text: [message(text), {"messageId": "m"}]),
    "other roles between": (2, lambda _, text: [message(text), message("x", "m", "agent_thought")]),
    "other sessions between": (2, lambda _, text: [message(text), None, message("", "new")]),
}


@pytest.mark.parametrize("size", [1, 3, 4, 11])
@pytest.mark.parametrize(("version", "write"), DISGUISES.values(), ids=DISGUISES)
def test_what_the_agent_writes_around_a_text_does_not_split_it(version, write, size):
    wire = Wire(version=version)
    for number, start in enumerate(range(0, len(TOKEN), size)):
        for update in write(number, TOKEN[start : start + size]):
            if update is None:
                wire.hear(message("hm"), session_id="other")
            else:
                wire.hear(update)
    (text,) = (text for text in wire.shown() if text)
    assert text.endswith(HIDDEN)
    assert len(text.removesuffix(HIDDEN)) <= KNOWN
    assert TOKEN not in "".join(texts_in(wire.told()))


def texts_in(node):
    """The texts in what the trace has, in order."""
    if isinstance(node, list):
        return [text for item in node for text in texts_in(item)]
    if not isinstance(node, dict):
        return []
    found = [node["text"]] if "text" in node and node["text"] != "a file" else []
    if "data" in node:
        found.append(base64.b64decode(node["data"]).decode())
    return found + [text for item in node.values() for text in texts_in(item)]


def test_no_number_of_other_texts_makes_one_forgotten(wire):
    for start in range(0, len(TOKEN), 11):
        wire.hear(message(TOKEN[start : start + 11]))
        for number in range(600):
            wire.hear(message(TOKEN[:3], f"{start}-{number}", "agent_thought_chunk"))
    assert wire.state.messages[("agent", "m")].text == TOKEN[:11] + HIDDEN


def test_whole_parts_between_small_ones_are_said_with_them(wire):
    # Each part of twelve is redacted by itself, and the others are not left between the marks.
    pieces = cut(TOKEN, 12, 23, 35)
    assert said(wire, pieces) == HIDDEN
    deep = {"a": "x"}
    for _ in range(200):
        deep = {"a": deep}
    for piece in pieces:
        wire.hear({**message(piece, "deep"), "_meta": deep})
    assert wire.state.messages[("agent", "deep")].text == HIDDEN


def test_what_is_said_before_a_session_is_open_is_redacted_with_the_rest():
    wire = Wire(is_open=False)
    *pieces, last = cut(TOKEN, *range(4, 40, 4))
    for piece in pieces:
        wire.hear(message(piece))
        wire.hear(message("hm", "other"))
    wire.open()
    wire.hear(message(last))
    assert wire.state.messages[("agent", "m")].text == TOKEN[:8] + HIDDEN
    told = [text_of(update) for update in wire.told() if update["messageId"] == "m"]
    assert "".join(told) == TOKEN[:8] + HIDDEN


def test_the_children_of_a_session_are_redacted_too(wire):
    child = wire.routes._child("child")
    for piece in cut(TOKEN, *range(4, 40, 4)):
        wire.hear(message(piece), session_id="child")
    assert child.state.messages[("agent", "m")].text == TOKEN[:8] + HIDDEN
    assert wire.state.messages == {}


def test_a_question_s_tool_call_goes_on_a_text_that_updates_began(wire):
    wire = Wire(version=1)
    for index, piece in enumerate(cut(TOKEN, 12, 23, 35)):
        update = plain_terminal(piece)
        if index % 2:
            wire.hear(update)
            continue
        options = [{"optionId": "a", "name": "Allow", "kind": "allow_once"}]
        params = {"sessionId": "s", "toolCall": update, "options": options}
        asked = {"jsonrpc": "2.0", "id": index, "method": "session/request_permission"}
        frame = wire.redaction.in_received(json.dumps({**asked, "params": params}).encode())
        wire.session.apply_read(
            wire.session.reader.permission_asked(u.PermissionId("1"), parse(frame).params)
        )
    assert wire.shown() == [HIDDEN, ""]


def test_a_batch_is_redacted_message_by_message(wire):
    params = {"sessionId": "s", "update": message(TOKEN[:20])}
    update = {"jsonrpc": "2.0", "method": "session/update", "params": params}
    other = {"jsonrpc": "2.0", "id": 1, "method": "fs/read", "params": {"path": TOKEN}}
    frame = wire.redaction.in_received(json.dumps([update, other]).encode())
    heard = parse(frame).entries
    assert heard[0].params["update"] == message(TOKEN[:20])
    assert heard[1].params == {"path": HIDDEN}


def test_what_the_model_has_besides_texts_is_redacted_in_each_update(wire):
    third = len(TOKEN) // 4
    pieces = [TOKEN[start : start + third] for start in range(0, len(TOKEN), third)]
    plan = {"type": "items", "planId": "p", "entries": [{"content": piece} for piece in pieces]}
    deep = [{"type": "text", "text": piece} for piece in pieces]
    call = {"sessionUpdate": "tool_call_update", "toolCallId": f"t{TOKEN}", "title": f"a {TOKEN}",
            "rawOutput": deep, "rawInput": {TOKEN: TOKEN}, "name": TOKEN[:30]}  # fmt: skip
    error = {"code": 1, "message": TOKEN, "data": pieces}
    for update in (
        {"sessionUpdate": "plan_update", "plan": plan},
        call,
        {"sessionUpdate": "state_update", "state": "idle", "error": error},
        {"sessionUpdate": "session_info_update", "title": TOKEN},
        {"sessionUpdate": "no such kind", "pieces": pieces, TOKEN: TOKEN},
        {"sessionUpdate": TOKEN, "why": TOKEN},
        {"sessionUpdate": "agent_message_chunk", "messageId": TOKEN},
        message("hi", TOKEN),
        {"sessionUpdate": "notice", "title": TOKEN, "description": pieces[0] * 2 + TOKEN},
    ):
        wire.hear(update)
    state = wire.state
    (step, *steps) = state.plans["p"].entries
    assert [step.content, *(each.content for each in steps)] == [HIDDEN, "", "", "", ""]
    (found,) = state.tool_calls.values()
    assert (found.tool_call_id, found.title, found.name) == (f"t{HIDDEN}", f"a {HIDDEN}", HIDDEN)
    assert found.raw_input == {HIDDEN: HIDDEN}
    assert [block["text"] for block in found.raw_output] == [HIDDEN, "", "", "", ""]
    assert ("agent", HIDDEN) in state.messages
    kept = repr([dataclasses.asdict(each) for each in state.violations]) + repr(vars_of(state))
    kept += "".join(frame.data.decode() for frame in wire.recording.frames())
    parts = [TOKEN[start : start + LEAST_CHARS] for start in range(len(TOKEN) - KNOWN)]
    assert not [part for part in parts if part in kept]


def vars_of(state):
    return {name: getattr(state, name) for name in type(state).__dataclass_fields__}


def test_what_does_not_grow_keeps_its_beginning_whatever_was_said_before(wire):
    # Else a person would consent to other code than what runs.
    for number, code in enumerate((f"x = '{TOKEN[:20]}", f"{TOKEN[20:23]} = remove()")):
        asked = u.PermissionRequested(
            u.PermissionId(str(number)), "Run?", (), subject=u.CodeSubject(code)
        )
        wire.session.apply([asked])
    codes = [each.request.subject.code for each in wire.state.permissions.values()]
    assert codes == [f"x = '{HIDDEN}", f"{TOKEN[20:23]} = remove()"]


def test_what_this_client_adds_itself_is_redacted_and_no_frame_with_it(wire):
    wire.hear(message("hi"))
    before = wire.recording.frames()[-1].data
    call = u.ToolCallId(f"{u.OWN_CALL}1")
    block = u.ContentItem(TextBlock(f"TOKEN = '{TOKEN}'"))
    wire.session.apply([u.ToolCallUpdate(call, content=(block,), meta={"cell": TOKEN})])
    for piece in cut(TOKEN, 5, 10, 15, 20):
        wire.session.apply([u.TerminalChunk(u.TerminalId("own"), piece.encode())])
    found = wire.state.tool_calls[call]
    assert found.content == [u.ContentItem(TextBlock(f"TOKEN = '{HIDDEN}'"))]
    assert found.meta == {"cell": HIDDEN}
    assert wire.state.terminals["own"].output == f"{TOKEN[:10]}{HIDDEN}".encode()
    assert wire.recording.frames()[-1].data == before


def test_a_prompt_goes_to_the_agent_as_the_user_wrote_it(wire):
    for kind in (u.PromptQueued, u.PromptSent):
        update = kind(u.PromptId("p"), (TextBlock(TOKEN),))
        assert wire.session.redacted(update) is update


def test_a_terminal_may_say_what_is_no_text(wire):
    data = base64.b64encode(b"\xff\x00" + TOKEN.encode() + b"\xfe").decode()
    told = wire.hear({**terminal(""), "data": data})
    redacted = b"\xff\x00" + HIDDEN.encode() + b"\xfe"
    assert wire.state.terminals["e"].output == redacted
    assert base64.b64decode(told["data"]) == redacted


def test_a_frame_that_was_read_in_another_form_is_not_in_the_trace(wire):
    wire.hear(message(TOKEN[:11]))
    text = f'"text": "{TOKEN[11:20]}\\ud800"'
    update = json.dumps(message("")).replace('"text": ""', text)
    message_of = '{"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", '
    frame = wire.redaction.in_received(f'{message_of}"update": {update}}}}}'.encode())
    wire.recording.record("received", frame)
    heard = parse(frame)
    wire.routes.notification(heard.method, heard.params)
    assert wire.recording.frames()[-1].data == b'"(hidden)"'


def test_what_stays_is_the_same_object_and_nothing_is_remembered_of_it(wire):
    pieces = wire.redaction.of_session(lambda _: None)
    for text in ("Hello.", "é\ud800", "\n", "no "):
        chunk = u.MessageChunk("agent", u.MessageId("m"), TextBlock(text, {"text": text}))
        assert pieces.redacted(chunk) is chunk
    plan = u.PlanUpdate(u.PlanId("p"), (u.PlanEntry("a"), u.PlanEntry("b")), raw={"x": [1, "a"]})
    assert pieces.redacted(plan) is plan
    for number in range(1_000):
        pieces.redacted(u.MessageChunk("agent", u.MessageId(str(number)), TextBlock("so.")))
        pieces.redacted(u.ToolCallUpdate(u.ToolCallId(str(number)), title=TOKEN[:5]))
    assert pieces._ends == {}
    pieces.redacted(u.MessageChunk("agent", u.MessageId("m"), TextBlock("x" * 9_999 + TOKEN[:5])))
    assert list(pieces._ends.values()) == [TOKEN[:5].encode()]


def test_a_part_of_twelve_characters_is_hidden_and_a_shorter_one_is_not(redaction):
    for start in range(len(TOKEN) - LEAST_CHARS + 1):
        part = TOKEN[start : start + LEAST_CHARS]
        assert redaction.in_text(f"({part})") == f"({HIDDEN})"
        assert redaction.in_text(f"({part[:-1]})") == f"({part[:-1]})"


def test_a_secret_written_by_the_numbers_of_its_characters_is_hidden(redaction):
    spelled = "".join(f"\\u{ord(char):04x}" for char in TOKEN)
    for frame in (f'{{"error": "{spelled}"}}', f'"\\\\{spelled}"'):
        plain = redaction.in_received(frame.encode())
        assert HIDDEN in json.loads(plain) or HIDDEN in json.loads(plain)["error"]
    kept = rb'"\\u0041 \u0022 \u00e9 \n <\/b>"'
    assert json.loads(redaction.in_received(kept)) == json.loads(kept)


def test_frames_without_the_secret_stay_as_they_are_byte_by_byte(redaction):
    chance = random.Random(7)
    image = base64.b64encode(chance.randbytes(200_000)).decode()
    texts = ["", TOKEN[:5], "plain", "é\ud800", image, TOKEN[-5:], *TOKEN[10:14], "\n" * 10]
    for text in texts:
        frame = json.dumps({"method": "session/update", "params": {"update": message(text)}})
        assert redaction.in_received(frame.encode()) == frame.encode()
    for frame in (b"noise", b"[]", b"[1]", b'{"method": "session/update"}', b"\xff session/update"):
        assert redaction.in_received(frame) == frame


def test_many_secrets_are_told_apart():
    words = [secrets.token_urlsafe(32) for _ in range(20)]
    wire = Wire(*words)
    for word in words:
        write = lambda piece, name=word[:5]: message(piece, name)  # noqa: E731
        assert said(wire, [word[:6], word[6:20], word[20:]], write) == word[:6] + HIDDEN

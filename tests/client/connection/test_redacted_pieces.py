"""A secret that an agent streams: whole in no text, whatever the pieces, and no other text lost."""

from __future__ import annotations

import base64
import itertools
import json
import random
import secrets

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_notebook.client.connection.redaction import Redaction
from acp_notebook.client.connection.secret import HIDDEN, LEAST_CHARS

TOKEN = "q9Zt-x_7LkD3vW0aBfRgY5mHcPj2NsUeT8oXiKQ4rVy"
KNOWN = LEAST_CHARS - 1


@pytest.fixture
def redaction():
    redaction = Redaction()
    redaction.add([TOKEN])
    return redaction


def message(text, message_id="m", kind="agent_message_chunk"):
    return {
        "sessionUpdate": kind,
        "messageId": message_id,
        "content": {"type": "text", "text": text},
    }


def tool_text(text):
    block = {"type": "content", "content": {"type": "text", "text": text}}
    return {"sessionUpdate": "tool_call_content_chunk", "toolCallId": "t", "content": block}


def plain_terminal(text):
    output = {"terminal_id": "e", "data": text}
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


def received(redaction, update, session_id="s"):
    params = {"sessionId": session_id, "update": update}
    frame = json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params}).encode()
    return json.loads(redaction.in_received(frame))["params"]["update"]


def said(redaction, pieces, write=message):
    return "".join(text_of(received(redaction, write(piece))) for piece in pieces)


def cut(text, *places):
    edges = [0, *sorted(places), len(text)]
    return [text[first:last] for first, last in itertools.pairwise(edges)]


STREAMS = [message, lambda text: message(text, kind="agent_thought_chunk"), tool_text, terminal,
           plain_terminal]  # fmt: skip


@pytest.mark.parametrize("write", STREAMS, ids=["message", "thought", "tool", "v2 tty", "v1 tty"])
@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 11, 12, 20, 43, 60])
def test_a_secret_in_pieces_of_any_size_shows_its_beginning_at_most(redaction, write, size):
    text = f"The token is {TOKEN}, and that was it."
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    shown = said(redaction, pieces, write)
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
    redaction = Redaction()
    redaction.add([TOKEN])
    text = f"{before} {TOKEN} {after}"
    shown = said(redaction, cut(text, *(min(place, len(text)) for place in places)))
    head, mark, tail = shown.partition(HIDDEN)
    assert mark
    assert text.startswith(head)
    assert len(head) <= len(before) + 1 + KNOWN
    assert tail == f" {after}"


def test_what_stands_between_the_pieces_makes_no_difference(redaction):
    texts = dict.fromkeys(("a", "b"), "")
    for index in range(0, len(TOKEN), 4):
        for name in texts:
            texts[name] += text_of(received(redaction, message(TOKEN[index : index + 4], name)))
            received(redaction, message("hm", name, "agent_thought_chunk"))
            received(redaction, terminal("$ "), session_id="other")
    assert texts == dict.fromkeys(texts, TOKEN[:8] + HIDDEN)


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


def test_many_secrets_and_texts_are_told_apart_within_bounds():
    redaction = Redaction()
    words = [secrets.token_urlsafe(32) for _ in range(20)]
    redaction.add(words)
    for word in words:
        assert said(redaction, [word[:6], word[6:20], word[20:]]) == word[:6] + HIDDEN
    for number in range(1_000):
        received(redaction, message("x" * 50, f"m{number}"))
    assert len(redaction._pieces._ends) <= 256

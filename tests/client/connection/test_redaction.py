"""Words that only an agent may know: kept out of what it says, its stderr and the recording."""

from __future__ import annotations

import random

from acp_notebook.client.connection.redaction import MAX_RETIRED, Redaction
from acp_notebook.client.connection.secret import HIDDEN
from acp_notebook.jsonrpc import MemoryTransport, RecordingTransport


def test_words_are_hidden_in_bytes_and_text_from_when_they_are_told():
    redaction = Redaction()
    assert redaction.in_text("the word") == "the word"
    redaction.add(["word"])
    assert redaction.in_text("the word, a word") == f"the {HIDDEN}, a {HIDDEN}"
    assert redaction.in_bytes(b'{"a": "word"}') == f'{{"a": "{HIDDEN}"}}'.encode()


def test_of_words_that_are_valid_no_more_only_the_newest_cost_a_search():
    redaction = Redaction()
    words = [random.Random(number).randbytes(10).hex() for number in range(3 * MAX_RETIRED)]
    pieces = redaction.of_session(lambda _changes: None)
    for word in words:
        redaction.add([word])
        redaction.retire([word])
    redaction.add(["the-valid-one"])
    said = redaction.in_text(" ".join([*words, "the-valid-one"])).split()
    assert said[: 2 * MAX_RETIRED] == words[: 2 * MAX_RETIRED]
    assert set(said[2 * MAX_RETIRED :]) == {HIDDEN}
    assert len(pieces._secrets) == MAX_RETIRED + 1


async def test_received_frames_are_without_the_words_and_sent_ones_are_whole():
    ours, theirs = MemoryTransport.pair()
    redaction = Redaction()
    redaction.add(["s3cret"])
    recorded = []
    transport = RecordingTransport(
        ours,
        lambda _direction, frame: recorded.append(redaction.in_bytes(frame)),
        redaction.in_received,
    )
    transport.send(b'"s3cret"')
    assert await theirs.receive() == b'"s3cret"'
    theirs.send(b'"you told me s3cret"')
    assert await transport.receive() == f'"you told me {HIDDEN}"'.encode()
    await transport.drain()
    await transport.aclose()
    assert await theirs.receive() is None
    assert recorded == [f'"{HIDDEN}"'.encode(), f'"you told me {HIDDEN}"'.encode()]

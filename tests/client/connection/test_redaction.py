"""Words that only an agent may know: kept out of what it says, its stderr and the recording."""

from __future__ import annotations

from acp_notebook.client.connection.redaction import Redaction
from acp_notebook.client.connection.secret import HIDDEN
from acp_notebook.jsonrpc import MemoryTransport, RecordingTransport


def test_words_are_hidden_in_bytes_and_text_from_when_they_are_told():
    redaction = Redaction()
    assert redaction.in_text("the word") == "the word"
    redaction.add(["word"])
    assert redaction.in_text("the word, a word") == f"the {HIDDEN}, a {HIDDEN}"
    assert redaction.in_bytes(b'{"a": "word"}') == f'{{"a": "{HIDDEN}"}}'.encode()


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

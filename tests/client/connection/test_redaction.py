"""Words that only an agent may know: kept out of what it says, its stderr and the recording."""

from __future__ import annotations

from acp_notebook.client.connection.redaction import HIDDEN, ConcealingTransport, Concealment
from acp_notebook.jsonrpc import MemoryTransport


def test_words_are_hidden_in_bytes_and_text_from_when_they_are_told():
    concealment = Concealment()
    assert concealment.in_text("the word") == "the word"
    concealment.add(["word"])
    assert concealment.in_text("the word, a word") == f"the {HIDDEN}, a {HIDDEN}"
    assert concealment.in_bytes(b'{"a": "word"}') == f'{{"a": "{HIDDEN}"}}'.encode()


async def test_received_frames_are_without_the_words_and_sent_ones_are_whole():
    ours, theirs = MemoryTransport.pair()
    concealment = Concealment()
    concealment.add(["s3cret"])
    transport = ConcealingTransport(ours, concealment)
    transport.send(b'"s3cret"')
    assert await theirs.receive() == b'"s3cret"'
    theirs.send(b'"you told me s3cret"')
    assert await transport.receive() == f'"you told me {HIDDEN}"'.encode()
    await transport.drain()
    await transport.aclose()
    assert await theirs.receive() is None

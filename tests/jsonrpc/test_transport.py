"""Frames over streams, in memory and recorded; lines however the reads cut them."""

from __future__ import annotations

import asyncio
import itertools
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acp_notebook.jsonrpc import transport as transport_module
from acp_notebook.jsonrpc.transport import (
    LineReader,
    MemoryTransport,
    Oversized,
    RecordingTransport,
    StreamTransport,
)

BOUND_S = 5
# A busy machine is slow, not wrong.
STEADY = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def read_lines(data, cuts=(), limit=1000):
    reader = LineReader(limit)
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    lines = []
    for start, stop in itertools.pairwise(edges):
        lines += reader.feed(data[start:stop])
    return lines + reader.finish()


@pytest.mark.requirement("WIRE-1")
class TestLineReader:
    def test_several_lines_in_one_read_come_one_by_one(self):
        assert LineReader().feed(b"a\nb\nc") == [b"a", b"b"]

    def test_a_line_over_several_reads_comes_whole(self):
        reader = LineReader()
        assert reader.feed(b'{"a"') == []
        assert reader.feed(b":1}") == []
        assert reader.feed(b"\n") == [b'{"a":1}']

    def test_carriage_returns_and_blank_lines_vanish(self):
        assert read_lines(b"a\r\n\r\n\n  \nb\r\n") == [b"a", b"b"]

    def test_only_newline_bytes_split(self):
        line = "a\u2028b\x0bc\x85d".encode()
        assert read_lines(line + b"\n") == [line]

    def test_the_last_line_needs_no_end(self):
        assert read_lines(b"a\nb") == [b"a", b"b"]
        assert read_lines(b"a\n") == [b"a"]

    def test_a_line_above_the_cap_is_dropped_alone(self):
        data = b"ok\n" + b"x" * 11 + b"\n" + b"y" * 10 + b"\n"
        assert read_lines(data, limit=10) == [b"ok", Oversized(11), b"y" * 10]

    def test_the_rest_of_a_dropped_line_is_counted_but_not_kept(self):
        reader = LineReader(10)
        for _ in range(100):
            assert reader.feed(b"x" * 10) == []
        assert len(reader._kept) == 0
        assert reader.feed(b"\nnext\n") == [Oversized(1000), b"next"]

    def test_tens_of_megabytes_in_one_line_arrive_whole(self):
        reader, piece = LineReader(), b"x" * 65536
        for _ in range(320):
            assert reader.feed(piece) == []
        [line] = reader.feed(b"\n")
        assert len(line) == 320 * 65536

    @STEADY
    @given(st.lists(st.sampled_from([b"a", b"\n", b"\r\n", b"{}", b"x" * 9, b" "])), st.data())
    def test_where_the_reads_cut_never_matters(self, parts, data):
        stream = b"".join(parts)
        cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=10))
        assert read_lines(stream, cuts, limit=12) == read_lines(stream, limit=12)


class Streams:
    """A real pipe with an asyncio reader at one end and a writer at the other."""

    async def open(self):
        loop = asyncio.get_running_loop()
        read_fd, write_fd = os.pipe()
        self.reader = asyncio.StreamReader()
        protocol = asyncio.StreamReaderProtocol(self.reader)
        self.read_end, _ = await loop.connect_read_pipe(lambda: protocol, os.fdopen(read_fd, "rb"))
        write_end, write_protocol = await loop.connect_write_pipe(
            lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()),
            os.fdopen(write_fd, "wb"),
        )
        self.writer = asyncio.StreamWriter(write_end, write_protocol, None, loop)
        return self

    async def close(self):
        self.read_end.close()
        if not self.writer.is_closing():
            self.writer.transport.abort()
        await asyncio.sleep(0)


@pytest.fixture
async def streams():
    opened = await Streams().open()
    yield opened
    await opened.close()


@pytest.fixture
def stream_transport(streams):
    return StreamTransport(streams.reader, streams.writer, max_line_bytes=100)


async def soon(awaitable):
    return await asyncio.wait_for(awaitable, BOUND_S)


class TestStreamTransport:
    async def test_what_is_sent_is_received_line_by_line(self, stream_transport):
        stream_transport.send(b"one")
        stream_transport.send(b"two")
        await soon(stream_transport.drain())
        assert await soon(stream_transport.receive()) == b"one"
        assert await soon(stream_transport.receive()) == b"two"

    async def test_an_oversized_line_is_reported_and_the_next_one_comes(self, stream_transport):
        stream_transport.send(b"x" * 101)
        stream_transport.send(b"two")
        assert await soon(stream_transport.receive()) == Oversized(101)
        assert await soon(stream_transport.receive()) == b"two"

    async def test_the_end_comes_after_the_unfinished_line_and_stays(
        self, streams, stream_transport
    ):
        streams.writer.write(b"one\nlast")
        streams.writer.close()
        assert await soon(stream_transport.receive()) == b"one"
        assert await soon(stream_transport.receive()) == b"last"
        assert await soon(stream_transport.receive()) is None
        assert await soon(stream_transport.receive()) is None

    async def test_closing_ends_a_waiting_receive(self, stream_transport):
        waiting = asyncio.create_task(stream_transport.receive())
        await asyncio.sleep(0)
        await soon(stream_transport.aclose())
        assert await soon(waiting) is None
        assert await soon(stream_transport.receive()) is None

    async def test_closing_twice_and_sending_after_it_do_nothing(self, stream_transport):
        await soon(stream_transport.aclose())
        await soon(stream_transport.aclose())
        stream_transport.send(b"late")

    async def test_a_reset_by_the_peer_is_an_end(self, streams, stream_transport):
        streams.reader.set_exception(ConnectionResetError("gone"))
        assert await soon(stream_transport.receive()) is None

    async def test_a_peer_that_is_gone_makes_draining_and_closing_no_error(self, stream_transport):
        stream_transport._writer = BrokenWriter()
        stream_transport.send(b"x")
        await soon(stream_transport.drain())
        await soon(stream_transport.aclose())

    async def test_a_peer_that_never_reads_cannot_hold_up_closing(
        self, streams, stream_transport, monkeypatch
    ):
        monkeypatch.setattr(transport_module, "CLOSE_TIMEOUT_S", 0.01)
        streams.read_end.pause_reading()
        stream_transport.send(b"x" * 10_000_000)
        await soon(stream_transport.aclose())
        assert streams.writer.transport.get_write_buffer_size() == 0


class BrokenWriter:
    """A writer whose peer is gone."""

    def is_closing(self):
        return False

    def write(self, data):
        self.written = data

    async def drain(self):
        raise BrokenPipeError

    def close(self):
        self.closed = True

    async def wait_closed(self):
        raise ConnectionResetError


class TestMemoryTransport:
    async def test_a_pair_carries_frames_both_ways_in_order(self):
        left, right = MemoryTransport.pair()
        left.send(b"1")
        left.send(b"2")
        right.send(b"3")
        await left.drain()
        assert [await soon(right.receive()), await soon(right.receive())] == [b"1", b"2"]
        assert await soon(left.receive()) == b"3"

    async def test_closing_one_end_ends_both_after_what_was_sent(self):
        left, right = MemoryTransport.pair()
        left.send(b"1")
        await left.aclose()
        await left.aclose()
        left.send(b"late")
        right.send(b"nobody reads this")
        assert await soon(left.receive()) is None
        assert [await soon(right.receive()) for _ in range(3)] == [b"1", None, None]

    async def test_closing_ends_a_waiting_receive(self):
        left, _right = MemoryTransport.pair()
        waiting = asyncio.create_task(left.receive())
        await asyncio.sleep(0)
        await left.aclose()
        assert await soon(waiting) is None


class TestRecordingTransport:
    async def test_every_frame_is_shown_in_the_order_of_the_wire(self):
        left, right = MemoryTransport.pair()
        seen = []
        recorded = RecordingTransport(left, lambda *note: seen.append(note))
        recorded.send(b"a")
        right.send(b"b")
        assert await soon(recorded.receive()) == b"b"
        assert await soon(right.receive()) == b"a"
        await recorded.drain()
        await recorded.aclose()
        assert await soon(recorded.receive()) is None
        assert seen == [("sent", b"a"), ("received", b"b")]

    async def test_a_recorder_that_fails_costs_no_frame(self, caplog):
        def full_disk(_direction, _frame):
            raise OSError("no space left")

        left, right = MemoryTransport.pair()
        RecordingTransport(left, full_disk).send(b"a")
        assert await soon(right.receive()) == b"a"
        assert "could not be recorded" in caplog.text

"""The record of the wire: bounded, in order, named, readable from any thread."""

from __future__ import annotations

import concurrent.futures
import itertools
import json

import pytest

from acp_notebook.trace import recording as module
from acp_notebook.trace.recording import Frame, Recording


@pytest.fixture
def recording():
    ticks = itertools.count(100)
    return Recording(lambda: float(next(ticks)))


def test_frames_are_kept_in_order_with_time_and_direction(recording):
    recording.record("sent", b"1")
    recording.record("received", b"2")
    assert recording.frames() == [Frame(1.0, "sent", b"1"), Frame(2.0, "received", b"2")]


@pytest.mark.parametrize(("last", "kept"), [(None, 3), (2, 2), (9, 3), (0, 0), (-1, 0)])
def test_the_last_frames_can_be_asked_for(recording, last, kept):
    for number in range(3):
        recording.record("sent", b"%d" % number)
    found = recording.frames(last)
    assert [frame.data for frame in found] == [b"%d" % n for n in range(3 - kept, 3)]


def test_older_frames_make_room_by_count(recording, monkeypatch):
    monkeypatch.setattr(module, "MAX_FRAMES", 5)
    for number in range(20):
        recording.record("sent", b"%d" % number)
    assert [frame.data for frame in recording.frames()] == [b"%d" % n for n in range(15, 20)]


def test_older_frames_make_room_by_size_also_after_the_count_was_reached(recording, monkeypatch):
    monkeypatch.setattr(module, "MAX_FRAMES", 5)
    monkeypatch.setattr(module, "MAX_BYTES", 100)
    for _ in range(20):
        recording.record("received", b"x" * 10)
    for _ in range(2):
        recording.record("received", b"y" * 40)
    assert [len(frame.data) for frame in recording.frames()] == [10, 10, 40, 40]
    recording.record("received", b"y" * 40)
    assert [len(frame.data) for frame in recording.frames()] == [40, 40]


def test_a_frame_larger_than_the_bound_is_kept_until_the_next(recording, monkeypatch):
    monkeypatch.setattr(module, "MAX_BYTES", 10)
    recording.record("received", b"x" * 50)
    assert len(recording.frames()) == 1
    recording.record("sent", b"small")
    assert [frame.data for frame in recording.frames()] == [b"small"]


def test_it_can_be_read_while_it_grows(recording, monkeypatch):
    monkeypatch.setattr(module, "MAX_FRAMES", 50)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        readers = [
            pool.submit(lambda: [len(recording.frames()) for _ in range(300)]) for _ in range(3)
        ]
        for number in range(2_000):
            recording.record("sent", b"%d" % number)
        lengths = [length for reader in readers for length in reader.result(20)]
    assert max(lengths) <= 50
    assert recording.frames()[-1].data == b"1999"


UPDATE = {
    "method": "session/update",
    "params": {"sessionId": "s", "update": {"sessionUpdate": "agent_message_chunk"}},
}


@pytest.mark.parametrize(
    ("message", "label"),
    [
        ({"id": 1, "method": "initialize", "params": {}}, "initialize"),
        ({"method": "session/cancel", "params": {"sessionId": "s"}}, "session/cancel"),
        (UPDATE, "session/update agent_message_chunk"),
        ({"method": "session/update", "params": {"update": {}}}, "session/update"),
        ({"method": "session/update", "params": [1]}, "session/update"),
        ({"id": 3, "result": None}, "result of request 3"),
        ({"id": "x", "error": {"code": -1, "message": "no"}}, "error of request x"),
        ({"id": 3, "method": 5}, "result of request 3"),
        ([UPDATE, {"id": 1, "method": "x"}], "batch of 2"),
        (42, "noise"),
        ("text", "noise"),
        (None, "noise"),
    ],
)
def test_a_label_names_the_message(message, label):
    assert Frame(0.0, "received", json.dumps(message).encode()).label == label


@pytest.mark.parametrize("data", [b"Loaded credentials", b"\x1b[2J\xff\xfe", b"{", b"[" * 100_000])
def test_what_is_no_json_is_shown_as_text_and_named_noise(data):
    frame = Frame(0.0, "received", data)
    assert frame.label == "noise"
    assert frame.message == data.decode(errors="replace")


def test_only_the_frame_that_is_handled_is_amended_then_or_later(recording):
    for data in (b'{"a": ["x", {"x": "xx"}]}', b'["x", "y"]', b'["x"]'):
        recording.record("received", data)
        if data == b'["x", "y"]':
            with recording.handling():
                later = recording.later(recording.amend)
    recording.record("sent", b'["x"]')
    recording.amend({"x": "-"})
    later({"x": "-"})
    with recording.handling():
        later({"y": "+"})
        recording.amend({"x": ""})
    recording.amend({"x": "-"})
    kept = [frame.data for frame in recording.frames()]
    assert kept == [b'{"a": ["x", {"x": "xx"}]}', b'["-", "+"]', b'[""]', b'["x"]']


@pytest.mark.parametrize("data", [b'["other"]', b"noise x", b"[" * 900 + b'"x"' + b"]" * 900])
def test_a_frame_that_cannot_be_amended_is_not_kept(recording, data):
    recording.record("received", data)
    with recording.handling():
        recording.amend({"y": "-"})
    assert recording.frames()[0].data == b'"(hidden)"'


def test_an_amended_frame_takes_the_room_that_it_has(recording, monkeypatch):
    monkeypatch.setattr(module, "MAX_BYTES", 100)
    recording.record("received", b'"' + b"x" * 60 + b'"')
    with recording.handling():
        recording.amend({"x" * 60: "x"})
    recording.record("received", b"y" * 90)
    assert [len(frame.data) for frame in recording.frames()] == [3, 90]
    with recording.handling():
        recording.record("received", b"z" * 90)
        recording.amend({})
    recording.record("received", b"z" * 10)
    assert [len(frame.data) for frame in recording.frames()] == [90, 10]

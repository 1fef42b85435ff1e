"""The peer: order, exactly one answer, batches, cancelling, noise and the end."""

from __future__ import annotations

import asyncio
import itertools
import json
from types import SimpleNamespace

import pytest

from acp_notebook.jsonrpc import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    NOT_JSON,
    NOT_JSONRPC,
    OVERSIZED,
    REQUEST_CANCELLED,
    UNKNOWN_RESPONSE,
    Connection,
    ConnectionLost,
    MemoryTransport,
    Oversized,
    RpcError,
)
from acp_notebook.jsonrpc import connection as connection_module

BOUND_S = 5


class Wire:
    """A connection under test and the raw end of its transport."""

    def __init__(self):
        self.end, self.raw = MemoryTransport.pair()
        self.requests = []
        self.notifications = []
        self.noise = []
        self.log = []
        self.serve = lambda _request: None
        self.note = lambda _method, _params: None
        self.connection = Connection(
            self.end,
            on_request=self._on_request,
            on_notification=self._on_notification,
            on_noise=self._on_noise,
        )

    def _on_request(self, request):
        self.requests.append(request)
        self.log.append(("request", request.method))
        self.serve(request)

    def _on_notification(self, method, params):
        self.notifications.append((method, params))
        self.log.append(("notification", method))
        self.note(method, params)

    def _on_noise(self, kind, text):
        self.noise.append((kind, text))

    def put(self, value):
        self.raw.send(value if isinstance(value, bytes) else json.dumps(value).encode())

    def ask(self, request_id, method="m", **members):
        self.put(call(id=request_id, method=method, **members))

    async def sync(self):
        """Wait until everything put so far has been dispatched."""
        seen = asyncio.Event()
        before, self.note = self.note, lambda _method, _params: seen.set()
        self.put(call(method="sync"))
        await asyncio.wait_for(seen.wait(), BOUND_S)
        self.note = before
        self.notifications.pop()
        self.log.pop()

    async def sent(self):
        frame = await asyncio.wait_for(self.raw.receive(), BOUND_S)
        return None if frame is None else json.loads(frame)

    def nothing_was_sent(self):
        return self.raw._inbox.empty()


def call(**members):
    return {"jsonrpc": "2.0", **members}


def answer(request_id, result):
    return call(id=request_id, result=result)


def error(request_id, code, message):
    return call(id=request_id, error={"code": code, "message": message})


@pytest.fixture
async def wire():
    made = Wire()
    running = asyncio.create_task(made.connection.run())
    yield made
    await made.connection.aclose()
    await asyncio.wait_for(running, BOUND_S)


async def test_a_flood_in_one_read_lets_others_have_the_loop(wire, monkeypatch):
    times, turns, heard_at = itertools.count(10**9), [0], []

    def turn():
        turns[0] += 1
        asyncio.get_running_loop().call_soon(turn)

    clock = SimpleNamespace(monotonic=lambda: next(times) * 0.004)
    monkeypatch.setattr(connection_module, "time", clock)
    wire.serve = lambda _request: heard_at.append(turns[0])
    turn()
    for number in range(40):
        wire.ask(number)
    await wire.sync()
    assert len(set(heard_at)) >= 10


@pytest.mark.requirement("WIRE-4")
class TestAnsweringRequests:
    @pytest.mark.parametrize("request_id", [0, 7, "0", "uuid"])
    async def test_the_answer_carries_the_same_id(self, wire, request_id):
        wire.serve = lambda request: request.respond({"ok": True})
        wire.ask(request_id, params={"a": 1})
        assert await wire.sent() == answer(request_id, {"ok": True})
        assert wire.requests[0].params == {"a": 1}

    async def test_a_request_may_be_answered_later_and_out_of_order(self, wire):
        wire.ask(1)
        wire.ask(2)
        await wire.sync()
        first, second = wire.requests
        assert not first.answered
        assert second.respond("second")
        assert first.respond("first")
        assert first.answered
        assert [await wire.sent(), await wire.sent()] == [answer(2, "second"), answer(1, "first")]

    async def test_only_the_first_answer_counts(self, wire):
        wire.ask(1)
        await wire.sync()
        [request] = wire.requests
        assert request.fail(-5, "no", {"why": "because"}) is True
        assert request.respond("yes") is False
        assert request.fail(-6, "no") is False
        assert (await wire.sent())["error"] == {
            "code": -5,
            "message": "no",
            "data": {"why": "because"},
        }
        assert wire.nothing_was_sent()

    async def test_a_failing_callback_is_logged_and_answered_and_reading_goes_on(
        self, wire, caplog
    ):
        def fail(_request):
            raise ZeroDivisionError("oops")

        wire.serve = fail
        wire.ask(1)
        assert (await wire.sent())["error"]["code"] == INTERNAL_ERROR
        assert "ZeroDivisionError" in caplog.text
        wire.serve = lambda request: request.respond(None)
        wire.ask(2)
        assert await wire.sent() == answer(2, None)

    async def test_a_callback_that_fails_after_answering_is_not_answered_twice(self, wire, caplog):
        def answer_and_fail(request):
            request.respond("fine")
            raise ZeroDivisionError

        wire.serve = answer_and_fail
        wire.ask(1)
        assert await wire.sent() == answer(1, "fine")
        await wire.sync()
        assert wire.nothing_was_sent()
        assert "ZeroDivisionError" in caplog.text

    async def test_an_rpc_error_raised_by_the_callback_is_the_answer(self, wire, caplog):
        def refuse(_request):
            raise RpcError(-32601, "no such method", "x")

        wire.serve = refuse
        wire.ask(1)
        assert (await wire.sent())["error"] == {
            "code": -32601,
            "message": "no such method",
            "data": "x",
        }
        assert not caplog.text

    async def test_an_answer_without_a_json_form_becomes_an_internal_error(self, wire, caplog):
        wire.serve = lambda request: request.respond(object())
        wire.ask(1)
        assert (await wire.sent())["error"]["code"] == INTERNAL_ERROR
        assert "has no JSON form" in caplog.text

    async def test_an_id_that_is_reused_too_early_gets_both_answers(self, wire):
        wire.ask(1, "first")
        wire.ask(1, "second")
        await wire.sync()
        for request in wire.requests:
            request.respond(request.method)
        assert [await wire.sent(), await wire.sent()] == [answer(1, "first"), answer(1, "second")]

    async def test_an_answer_after_the_end_is_dropped(self, wire):
        wire.ask(1)
        await wire.sync()
        await wire.connection.aclose()
        assert wire.requests[0].respond("late") is False
        assert wire.requests[0].answered


class TestBeingCancelled:
    async def cancel(self, wire, **params):
        wire.put(call(method="$/cancel_request", params=params))
        await wire.sync()

    async def test_a_cancelled_request_is_answered_so(self, wire):
        wire.ask(0)
        await self.cancel(wire, requestId=0)
        assert (await wire.sent())["error"]["code"] == REQUEST_CANCELLED
        assert wire.requests[0].respond("late") is False
        assert wire.notifications == []

    async def test_the_callback_may_answer_itself(self, wire):
        def serve(request):
            request.on_cancel = lambda: request.respond("partly done")

        wire.serve = serve
        wire.ask("a")
        await self.cancel(wire, requestId="a")
        assert await wire.sent() == answer("a", "partly done")
        assert wire.nothing_was_sent()

    async def test_a_callback_that_only_cleans_up_leaves_the_answer_to_the_connection(self, wire):
        cleaned = []

        def serve(request):
            request.on_cancel = lambda: cleaned.append(request.id)

        wire.serve = serve
        wire.ask(1)
        await self.cancel(wire, requestId=1)
        assert (await wire.sent())["error"]["code"] == REQUEST_CANCELLED
        assert cleaned == [1]

    async def test_a_callback_that_fails_is_logged_and_the_request_answered(self, wire, caplog):
        def fail():
            raise ZeroDivisionError

        def serve(request):
            request.on_cancel = fail

        wire.serve = serve
        wire.ask(1)
        await self.cancel(wire, requestId=1)
        assert (await wire.sent())["error"]["code"] == REQUEST_CANCELLED
        assert "ZeroDivisionError" in caplog.text

    @pytest.mark.parametrize(
        "params", [{"requestId": "1"}, {"requestId": True}, {"requestId": None}, {}]
    )
    async def test_what_names_no_open_request_is_ignored(self, wire, params):
        wire.ask(1)
        await self.cancel(wire, **params)
        wire.put(call(method="$/cancel_request"))
        await wire.sync()
        assert not wire.requests[0].answered
        assert wire.nothing_was_sent()


class TestSendingRequests:
    async def test_an_answer_settles_its_call(self, wire):
        asked = asyncio.create_task(wire.connection.request("m", {"a": 1}))
        assert await wire.sent() == call(id=1, method="m", params={"a": 1})
        wire.put(answer(1, {"b": 2}))
        assert await asyncio.wait_for(asked, BOUND_S) == {"b": 2}

    async def test_an_error_is_raised_with_code_message_and_data(self, wire):
        asked = asyncio.create_task(wire.connection.request("m"))
        await wire.sent()
        wire.put(call(id=1, error={"code": 5, "message": "no", "data": [1]}))
        with pytest.raises(RpcError, match="no") as raised:
            await asyncio.wait_for(asked, BOUND_S)
        assert (raised.value.code, raised.value.data) == (5, [1])

    async def test_answers_and_notifications_are_dispatched_in_receive_order(self, wire):
        for _ in range(3):
            wire.connection.send_request("m", None, lambda r: wire.log.append(("response", r.id)))
        wire.put(call(method="a"))
        wire.put(answer(2, None))
        wire.put(call(method="b"))
        wire.ask(9, "c")
        wire.put(answer(1, None))
        await wire.sync()
        assert wire.log == [
            ("notification", "a"),
            ("response", 2),
            ("notification", "b"),
            ("request", "c"),
            ("response", 1),
        ]

    async def test_a_callback_that_fails_is_logged_and_reading_goes_on(self, wire, caplog):
        def fail(*_args):
            raise ZeroDivisionError

        wire.connection.send_request("m", None, fail)
        wire.note = fail
        wire.put(answer(1, None))
        wire.put(call(method="a"))
        await wire.sync()
        assert caplog.text.count("ZeroDivisionError") == 2

    @pytest.mark.parametrize("wrong", ["1", 2, True, None])
    async def test_an_answer_to_no_call_of_ours_is_noise(self, wire, wrong):
        asked = asyncio.create_task(wire.connection.request("m"))
        await wire.sent()
        wire.put(answer(wrong, "not yours"))
        await wire.sync()
        assert not asked.done()
        [(kind, text)] = wire.noise
        assert kind == (NOT_JSONRPC if wrong is True else UNKNOWN_RESPONSE)
        assert "not yours" in text
        wire.put(answer(1, "yours"))
        assert await asyncio.wait_for(asked, BOUND_S) == "yours"

    async def test_a_second_answer_is_noise(self, wire):
        wire.connection.send_request("m", None, lambda _response: None)
        wire.put(answer(1, None))
        wire.put(answer(1, None))
        await wire.sync()
        assert [kind for kind, _ in wire.noise] == [UNKNOWN_RESPONSE]

    async def test_giving_up_the_wait_withdraws_the_request_and_drops_its_answer(self, wire):
        asked = asyncio.create_task(wire.connection.request("m"))
        assert (await wire.sent())["id"] == 1
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        assert await wire.sent() == call(method="$/cancel_request", params={"requestId": 1})
        wire.put(error(1, REQUEST_CANCELLED, "cancelled"))
        await wire.sync()
        assert wire.noise == []

    async def test_withdrawing_what_is_not_open_sends_nothing(self, wire):
        wire.connection.cancel_request(5)
        assert wire.nothing_was_sent()

    async def test_params_without_a_json_form_raise_and_leave_nothing_pending(self, wire):
        with pytest.raises(TypeError):
            wire.connection.send_request("m", object(), lambda _response: None)
        with pytest.raises(TypeError):
            wire.connection.notify("m", object())
        assert wire.nothing_was_sent()
        wire.connection.send_request("m", None, lambda _response: None)
        assert (await wire.sent())["id"] == 1

    async def test_notifications_are_sent(self, wire):
        wire.connection.notify("session/cancel", {"sessionId": "s"})
        await wire.connection.drain()
        assert await wire.sent() == call(method="session/cancel", params={"sessionId": "s"})


@pytest.mark.requirement("WIRE-3")
class TestBatches:
    async def test_entries_are_served_in_order_and_answered_in_one_array(self, wire):
        wire.put([call(method="a"), call(id=1, method="b"), 5, call(id="x", method="c")])
        await wire.sync()
        assert [name for _, name in wire.log] == ["a", "b", "c"]
        assert [kind for kind, _ in wire.noise] == [NOT_JSONRPC]
        first, second = wire.requests
        second.respond(2)
        assert wire.nothing_was_sent()
        first.respond(1)
        assert await wire.sent() == [answer("x", 2), answer(1, 1)]

    async def test_answers_given_at_once_still_come_in_one_array(self, wire):
        wire.serve = lambda request: request.respond(request.id)
        wire.put([call(id=1, method="b"), call(id=2, method="c")])
        assert await wire.sent() == [answer(1, 1), answer(2, 2)]

    async def test_a_batch_without_requests_gets_no_answer(self, wire):
        wire.connection.send_request("m", None, lambda r: wire.log.append(("response", r.result)))
        await wire.sent()
        wire.put([call(method="a"), answer(1, "r")])
        await wire.sync()
        assert wire.log == [("notification", "a"), ("response", "r")]
        assert wire.nothing_was_sent()

    async def test_an_empty_batch_is_an_invalid_request(self, wire):
        wire.put([])
        refused = await wire.sent()
        assert refused["id"] is None
        assert refused["error"]["code"] == INVALID_REQUEST


@pytest.mark.requirement("WIRE-2")
class TestNoise:
    async def test_noise_is_reported_and_never_answered(self, wire):
        wire.put(b"Loaded cached credentials.")
        wire.put(b"\x1b[2J\xff\xfe")
        wire.put({"level": "info"})
        wire.raw._outbox.put_nowait(Oversized(99))
        await wire.sync()
        assert [kind for kind, _ in wire.noise] == [NOT_JSON, NOT_JSON, NOT_JSONRPC, OVERSIZED]
        assert wire.noise[0][1] == "Loaded cached credentials."
        assert "99 bytes" in wire.noise[3][1]
        assert wire.nothing_was_sent()

    async def test_a_reporter_that_fails_does_not_end_the_reading(self, wire, caplog):
        wire.noise = None
        wire.put(b"noise")
        await wire.sync()
        assert "A callback of the connection failed" in caplog.text


class TestTheEnd:
    async def test_pending_calls_are_settled_with_the_loss(self, wire):
        settled = []
        wire.connection.send_request("m", None, settled.append)
        asked = asyncio.create_task(wire.connection.request("m"))
        await wire.sent()
        await wire.sent()
        await wire.raw.aclose()
        with pytest.raises(ConnectionLost, match="before the answer came"):
            await asyncio.wait_for(asked, BOUND_S)
        [response] = settled
        assert response.id == 1
        assert isinstance(response.error, ConnectionLost)
        assert wire.connection.ended

    async def test_nothing_can_be_asked_afterwards_and_notifications_vanish(self, wire):
        await wire.connection.aclose()
        with pytest.raises(ConnectionLost, match="is closed"):
            wire.connection.send_request("m", None, lambda _response: None)
        with pytest.raises(ConnectionLost):
            await wire.connection.request("m")
        wire.connection.notify("m")
        assert await wire.sent() is None

    async def test_a_callback_of_the_end_that_fails_leaves_the_others_settled(self, wire, caplog):
        settled = []

        def ask_again(_response):
            wire.connection.send_request("m", None, settled.append)

        wire.connection.send_request("m", None, ask_again)
        wire.connection.send_request("m", None, settled.append)
        await wire.connection.aclose()
        assert [type(response.error) for response in settled] == [ConnectionLost]
        assert "ConnectionLost" in caplog.text

    async def test_closing_twice_is_fine(self, wire):
        await wire.connection.aclose()
        await wire.connection.aclose()

    async def test_a_run_that_is_cancelled_settles_what_waits(self):
        made, settled = Wire(), []
        running = asyncio.create_task(made.connection.run())
        made.connection.send_request("m", None, settled.append)
        await asyncio.sleep(0)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert isinstance(settled[0].error, ConnectionLost)

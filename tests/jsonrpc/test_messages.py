"""Bytes to messages and back: what is read, what counts as noise, what is never written."""

from __future__ import annotations

import functools
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acp_notebook.jsonrpc import messages
from acp_notebook.jsonrpc.messages import (
    INTERNAL_ERROR,
    NOISE_TEXT_LIMIT,
    NOT_JSON,
    NOT_JSONRPC,
    Batch,
    Noise,
    Notification,
    Request,
    Response,
    RpcError,
    describe,
    dump,
    parse,
)

# A busy machine is slow, not wrong.
STEADY = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def frame(**members):
    return json.dumps({"jsonrpc": "2.0", **members}).encode()


def read_error(error):
    response = parse(frame(id=1, error=error))
    assert isinstance(response, Response)
    return response.error


class TestReading:
    @pytest.mark.parametrize("request_id", [0, 1, -5, 2**63, "", "3", "a-uuid"])
    def test_request_ids_are_integers_and_strings_and_keep_their_type(self, request_id):
        message = parse(frame(id=request_id, method="m", params={"a": 1}))
        assert message == Request(request_id, "m", {"a": 1})
        assert type(message.id) is type(request_id)

    @pytest.mark.parametrize("bad", [True, False, 1.5, [1], {"a": 1}])
    def test_other_values_are_no_ids(self, bad):
        assert parse(frame(id=bad, method="m")).kind == NOT_JSONRPC
        assert parse(frame(id=bad, result={})).kind == NOT_JSONRPC

    def test_params_may_be_missing_or_null(self):
        assert parse(frame(id=1, method="m")) == Request(1, "m", None)
        assert parse(frame(id=1, method="m", params=None)) == Request(1, "m", None)
        assert parse(frame(method="m")) == Notification("m", None)

    def test_a_call_with_a_null_id_is_a_notification(self):
        assert parse(frame(id=None, method="m", params=[])) == Notification("m", [])

    def test_a_response_with_a_null_result_is_a_response(self):
        assert parse(frame(id=1, result=None)) == Response(1, None)

    def test_an_error_without_an_id_is_kept_as_a_response(self):
        response = parse(frame(error={"code": -32700, "message": "what?"}))
        assert isinstance(response, Response)
        assert response.id is None

    def test_a_null_error_beside_a_result_is_no_error(self):
        assert parse(frame(id=1, result=5, error=None)) == Response(1, 5)

    def test_an_error_wins_over_a_result(self):
        response = parse(frame(id=1, result=5, error={"code": 7, "message": "no", "data": [1]}))
        assert response.result is None
        assert (response.error.code, response.error.message, response.error.data) == (7, "no", [1])

    @pytest.mark.parametrize("error", ["broken", 5, [1], {}, {"code": True, "message": None}])
    def test_a_malformed_error_still_settles_the_call_as_failed(self, error):
        read = read_error(error)
        assert read.code == INTERNAL_ERROR
        assert read.message
        assert read.data == (None if isinstance(error, dict) else error)

    def test_the_jsonrpc_member_may_be_missing_if_nothing_else_is_there(self):
        assert parse(b'{"id":7,"method":"_x/foo","params":{}}') == Request(7, "_x/foo", {})
        assert parse(b'{"id":7,"result":{}}') == Response(7, {})

    @pytest.mark.parametrize(
        "line",
        [
            b'{"level":"info","method":"GET"}',
            b'{"id":0,"result":"ok","time":"12:00"}',
            b'{"jsonrpc":"1.0","id":0,"method":"m"}',
            b'{"jsonrpc":"2.0"}',
            b'{"jsonrpc":"2.0","id":1}',
            b'{"jsonrpc":"2.0","result":1}',
            b'{"jsonrpc":"2.0","method":5}',
            b'"text"',
            b"5",
            b"null",
        ],
    )
    def test_json_that_is_no_jsonrpc_object_is_noise(self, line):
        noise = parse(line)
        assert noise.kind == NOT_JSONRPC
        assert json.loads(noise.text) == json.loads(line)

    @pytest.mark.parametrize(
        "line",
        [
            b"Loaded cached credentials.",
            b'{"jsonrpc":"2.0","method":"m"',
            b"\x1b[2J\xff\xfe",
            b'\xff{"jsonrpc":"2.0","method":"m"}',
            b"[" * 100_000,
            b'{"jsonrpc":"2.0","method":"m","params":' + b"1" * 5000 + b"}",
            b"",
        ],
    )
    def test_what_is_no_json_is_noise(self, line):
        noise = parse(line)
        assert isinstance(noise, Noise)
        assert noise.kind == NOT_JSON
        assert len(noise.text) < NOISE_TEXT_LIMIT + 50

    def test_long_noise_is_cut_and_says_how_long_it_was(self):
        assert parse(b"x" * 5000).text.endswith("… (5000 characters in all)")

    def test_nesting_that_can_just_be_read_does_no_harm_on_the_way_to_the_log(self):
        kinds = {parse(b"[" * n + b"]" * n).entries[0].kind for n in range(100, 400, 50)}
        assert kinds == {NOT_JSONRPC}
        # How deep a reader may go depends on the interpreter: nowhere may it raise.
        assert all(_text_of_nested(n) for n in [*range(500, 1100), 5_000, 20_000, 100_000])

    def test_what_is_too_deep_to_write_is_named(self):
        value = functools.reduce(lambda inner, _: [inner], range(200_000), [])
        assert messages._for_showing(value) == "(too deeply nested to show)"

    def test_a_byte_order_mark_is_ignored(self):
        assert parse(b"\xef\xbb\xbf" + frame(method="m")) == Notification("m")

    def test_nan_and_infinity_are_read_as_null(self):
        line = b'{"jsonrpc":"2.0","method":"m","params":[NaN,Infinity,-Infinity,1]}'
        assert parse(line) == Notification("m", [None, None, None, 1])

    @pytest.mark.parametrize(
        ("escaped", "read"),
        [
            (r"\ud83d\ude00", "😀"),
            (r"\uD83D\uDE00", "😀"),
            (r"\ud83d", "\ufffd"),
            (r"\ude00!", "\ufffd!"),
            (r"\ud83d\ud83d\ude00", "\ufffd😀"),
            (r"\\ud83d", r"\ud83d"),
            (r"\\\ud83d", "\\\ufffd"),
        ],
    )
    def test_lone_surrogates_are_replaced_and_pairs_are_kept(self, escaped, read):
        line = b'{"jsonrpc":"2.0","method":"m","params":["' + escaped.encode() + b'"]}'
        assert parse(line) == Notification("m", [read])

    def test_a_batch_is_read_entry_by_entry(self):
        batch = parse(b'[{"jsonrpc":"2.0","method":"m"},5,{"jsonrpc":"2.0","id":1,"method":"n"}]')
        assert batch == Batch((Notification("m"), Noise(NOT_JSONRPC, "5"), Request(1, "n")))
        assert parse(b"[]") == Batch(())

    @STEADY
    @given(st.binary())
    def test_no_bytes_make_it_raise(self, data):
        assert parse(data) is not None

    @STEADY
    @given(JSON_VALUES)
    def test_no_json_value_makes_it_raise(self, value):
        assert parse(json.dumps(value).encode()) is not None


def _text_of_nested(depth):
    parsed = parse(b"[" * depth + b"]" * depth)
    return parsed.text if isinstance(parsed, Noise) else parsed.entries[0].text


class TestWriting:
    @pytest.mark.parametrize(
        ("message", "written"),
        [
            (Request(0, "m"), '{"jsonrpc":"2.0","id":0,"method":"m"}'),
            (
                Request("a", "m", {"ä": 1}),
                '{"jsonrpc":"2.0","id":"a","method":"m","params":{"ä":1}}',
            ),
            (Notification("m", []), '{"jsonrpc":"2.0","method":"m","params":[]}'),
            (Response(1, None), '{"jsonrpc":"2.0","id":1,"result":null}'),
            (
                Response(None, error=RpcError(-1, "no")),
                '{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"no"}}',
            ),
            (
                Response(1, error=RpcError(-1, "no", {"a": 0})),
                '{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no","data":{"a":0}}}',
            ),
            (
                [Response(1, 2), Response("b", 3)],
                '[{"jsonrpc":"2.0","id":1,"result":2},{"jsonrpc":"2.0","id":"b","result":3}]',
            ),
        ],
    )
    def test_messages_are_written_compactly_in_utf8(self, message, written):
        assert dump(message) == written.encode()

    def test_nan_and_infinity_are_written_as_null(self):
        value = {"a": float("nan"), "b": [float("inf"), 1.5], "c": (float("-inf"),), "d": "text"}
        written = json.loads(dump(Notification("m", value)))
        assert written["params"] == {"a": None, "b": [None, 1.5], "c": [None], "d": "text"}

    def test_lone_surrogates_are_replaced_and_split_pairs_are_joined(self):
        line = dump(Notification("m", ["\ud83d", "a\ude00", "\ud83d\ude00"]))
        assert json.loads(line.decode())["params"] == ["\ufffd", "a\ufffd", "😀"]

    def test_line_ends_inside_of_texts_never_end_the_line(self):
        assert b"\n" not in dump(Notification("m", ["a\nb\r\n"]))

    def test_a_value_without_a_json_form_raises(self):
        with pytest.raises(TypeError):
            dump(Notification("m", {"x": object()}))

    def test_a_value_that_contains_itself_raises(self):
        value: list[object] = []
        value.append(value)
        with pytest.raises(ValueError, match="contains itself"):
            dump(Notification("m", value))

    def test_a_value_seen_twice_is_no_circle(self):
        shared = [float("nan")]
        assert json.loads(dump(Notification("m", [shared, shared])))["params"] == [[None], [None]]

    @STEADY
    @given(JSON_VALUES)
    def test_what_is_written_is_read_back_the_same(self, value):
        request = Request(1, "m", value)
        assert parse(dump(request)) == request

    @STEADY
    @given(st.text(st.characters()) | st.text(st.characters(categories=["Cs"])))
    def test_every_text_is_written_as_valid_utf8(self, text):
        assert isinstance(parse(dump(Notification("m", [text]))), Notification)


def test_describing_a_message_cuts_it():
    assert describe(Response(5, "x")) == '{"jsonrpc": "2.0", "id": 5, "result": "x"}'
    assert len(describe(Response(5, "x" * 100_000))) < NOISE_TEXT_LIMIT + 50


def test_an_error_reads_as_a_sentence_with_its_code():
    assert str(RpcError(-32601, "No such method.")) == "No such method. (-32601)"


def test_a_batch_without_end_is_noise() -> None:
    assert isinstance(messages.parse(b"[" + b"1," * messages.BATCH_LIMIT + b"1]"), messages.Noise)
    assert isinstance(messages.parse(b"[" + b"1," * 99 + b"1]"), messages.Batch)

"""Whom a message concerns is read from its ids alone, whatever else it holds."""

from __future__ import annotations

import pytest

from acp_notebook.protocol.routing import (
    RequestScope,
    SessionScope,
    read_update,
    request_scope,
    session_id_in,
)


def test_an_update_is_for_the_session_that_it_names():
    update = {"sessionUpdate": "agent_message_chunk"}
    assert read_update({"sessionId": "s", "update": update}) == ("s", update)
    assert read_update({}) == ("None", None)


@pytest.mark.parametrize(
    ("params", "scope"),
    [
        ({"sessionId": "s"}, SessionScope("s")),
        ({"sessionId": "s", "requestId": 1}, SessionScope("s")),
        ({"requestId": 1}, RequestScope(1)),
        ({"requestId": "r"}, RequestScope("r")),
        ({"sessionId": 7}, SessionScope(None)),
        ({"requestId": [1]}, SessionScope(None)),
        ({}, SessionScope(None)),
    ],
)
def test_a_request_belongs_to_a_session_or_to_a_request_of_ours(params, scope):
    assert request_scope(params) == scope


@pytest.mark.parametrize(
    ("answer", "session_id"),
    [({"sessionId": "s"}, "s"), ({"sessionId": 7}, None), ({}, None), (None, None), ("s", None)],
)
def test_a_new_session_has_the_id_in_the_answer(answer, session_id):
    assert session_id_in(answer) == session_id

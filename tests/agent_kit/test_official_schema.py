"""The judge itself: it must find what the lenient schemas let pass."""

from __future__ import annotations

import jsonschema
import pytest
from official_schema import official_schema


def update(**members):
    return {"sessionId": "s", "update": members}


def test_a_good_update_passes_in_both_versions():
    for version in (1, 2):
        chunk = update(
            sessionUpdate="agent_message_chunk",
            messageId="m",
            content={"type": "text", "text": "a"},
        )
        official_schema(version).check_params("session/update", chunk)


@pytest.mark.parametrize(
    "bad",
    [
        update(sessionUpdate="from_the_future"),
        update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": "a"}),
        update(
            sessionUpdate="agent_message_chunk",
            messageId="m",
            content={"type": "text", "text": "a", "txt": "b"},
        ),
        update(sessionUpdate="state_update", state="busy"),
        update(sessionUpdate="state_update", state="idle", stop_reason="end_turn"),
        update(sessionUpdate="tool_call_update", toolCallId="c", status="finished"),
        update(sessionUpdate="tool_call_update", toolCallId="c", colour="red"),
        {"sessionId": "s", "update": {"sessionUpdate": "agent_thought", "messageId": "m"}, "x": 1},
    ],
)
def test_unknown_names_and_missing_members_fail(bad):
    with pytest.raises(jsonschema.ValidationError):
        official_schema(2).check_params("session/update", bad)

"""Every update of the official schemas is read, and every update of the model is in a story."""

from __future__ import annotations

import typing

import pytest
import schema_witness
import trace_player

from acp_notebook.protocol.v1 import normalize as v1_normalize
from acp_notebook.protocol.v2 import normalize as v2_normalize
from acp_notebook.session import updates as u
from acp_notebook.session.elicitation import (
    AnswerRefused,
    ElicitationRequested,
    ElicitationSettled,
    UrlCompleted,
)

READERS = {1: v1_normalize.V1Reader()._readers, 2: v2_normalize._READERS}
# Read although the stable schema does not have it (yet): a harmless superset.
BEYOND_STABLE = {1: set(), 2: {"plan_removed"}}
# In the stable schema and left to the generic view on purpose.
DELIBERATELY_UNKNOWN = {1: set(), 2: set()}


@pytest.mark.parametrize("version", [1, 2])
def test_every_update_of_the_official_schema_is_read_or_left_unknown_on_purpose(version):
    official = set(schema_witness.update_kinds(version))
    assert len(official) >= 14
    assert (
        official == set(READERS[version]) - BEYOND_STABLE[version] | (DELIBERATELY_UNKNOWN[version])
    )
    assert not DELIBERATELY_UNKNOWN[version] & set(READERS[version])


# What this client does or sees itself, and what comes by requests or by no message at all.
NOT_BY_UPDATE = {
    u.PromptQueued,
    u.PromptSent,
    u.PromptAccepted,
    u.PromptFailed,
    u.PromptWithdrawn,
    u.PermissionRequested,
    u.PermissionSettled,
    ElicitationRequested,
    ElicitationSettled,
    AnswerRefused,
    UrlCompleted,
    u.CancelSent,
    u.StoppedAtRest,
    u.AgentLost,
    u.SessionOpened,
}


def test_every_update_of_the_model_is_read_in_some_story():
    readers = {1: v1_normalize.V1Reader(), 2: v2_normalize.V2Reader()}
    messages = [
        (version, line.get("message", {}))
        for story in trace_player.stories()
        for version in trace_player.versions_of(story)
        for line in trace_player.read_trace(story, version)
    ]
    read = {
        type(update)
        for version, message in messages
        if message.get("method") == "session/update"
        for update in readers[version].update(message["params"]["update"])
    }
    assert read == set(typing.get_args(u.SessionUpdate)) - NOT_BY_UPDATE

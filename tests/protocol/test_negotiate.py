"""`initialize`: what is asked, and what an answer is taken for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from acp_notebook.errors import UnsupportedProtocolVersion, UsageError
from acp_notebook.protocol import negotiate
from acp_notebook.protocol.dialect import ClientCapabilities, Implementation
from acp_notebook.protocol.negotiate import (
    check_version,
    initialize,
    read_answer,
    read_refusal,
    version_to_retry,
    version_words,
)
from acp_notebook.protocol.v2.dialect import VERSION, V2Dialect

CLIENT = Implementation("acp_notebook", "1.0", "Notebook")
V2 = {
    "protocolVersion": 2,
    "info": {"name": "a", "version": "1"},
    "capabilities": {"session": {"prompt": {"image": {}}}},
}
V1 = {"protocolVersion": 1, "agentInfo": {"name": "a", "version": "1"}, "agentCapabilities": {}}


def test_one_request_carries_both_shapes_and_each_names_the_client():
    params = initialize(CLIENT).params
    info = {"name": "acp_notebook", "title": "Notebook", "version": "1.0"}
    assert params["protocolVersion"] == 2
    assert params["info"] == params["clientInfo"] == info
    assert params["capabilities"] == {}
    assert params["clientCapabilities"] == {
        "fs": {"readTextFile": False, "writeTextFile": False},
        "terminal": False,
        "session": {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}},
    }


def test_what_is_served_is_advertised_to_either_version_in_its_own_words():
    offer = ClientCapabilities(read_files=True, forms=True, terminal_login=True)
    params = initialize(CLIENT, served=offer).params
    assert params["clientCapabilities"]["fs"] == {"readTextFile": True, "writeTextFile": False}
    assert params["clientCapabilities"]["auth"] == {"terminal": True}
    assert params["capabilities"] == {"auth": {"terminal": {}}, "elicitation": {"form": {}}}
    assert params["clientCapabilities"]["elicitation"] == {"form": {}}


def test_a_request_for_v1_alone_has_nothing_of_v2():
    params = initialize(CLIENT, version=1).params
    assert sorted(params) == ["clientCapabilities", "clientInfo", "protocolVersion"]
    assert params["protocolVersion"] == 1


def test_an_answer_of_2_speaks_v2():
    found = read_answer(V2, asked=2)
    assert found.dialect.version == 2
    assert found.capabilities.image
    assert found.info.name == "a"


def test_an_answer_of_1_to_an_offer_of_2_speaks_v1():
    assert read_answer(V1, asked=2).dialect.version == 1


@pytest.mark.parametrize(
    "answer",
    [
        {"protocolVersion": 2},
        {**V1, "protocolVersion": 2},
        {**V2, "info": None},
        {**V2, "capabilities": None},
        {**V2, "capabilities": True},
    ],
)
def test_an_agent_that_says_2_without_the_members_of_v2_speaks_v1(answer):
    assert read_answer(answer, asked=2).dialect.version == 1


def test_an_agent_that_was_asked_for_v1_alone_is_spoken_to_in_v1_whatever_it_says():
    assert read_answer(V2, asked=1).dialect.version == 1


@pytest.mark.parametrize("version", [0, 3, 7, -1])
def test_any_other_version_is_refused_and_both_sides_versions_are_named(version):
    with pytest.raises(UnsupportedProtocolVersion) as refused:
        read_answer({**V2, "protocolVersion": version}, asked=2)
    assert f"version {version}" in str(refused.value)
    assert "speaks 1 and 2" in str(refused.value)


@pytest.mark.parametrize(
    "answer", [None, [], "2", {}, {"protocolVersion": "2"}, {"protocolVersion": True}]
)
def test_an_answer_without_a_version_is_refused_in_words(answer):
    with pytest.raises(UnsupportedProtocolVersion, match="no protocol version"):
        read_answer(answer, asked=2)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({"supported": [2, 3]}, "2, 3"),
        ({"supported": []}, "others"),
        (None, "others"),
        ("x", "others"),
    ],
)
def test_the_refusal_code_becomes_a_sentence_with_the_next_step(data, told):
    error = read_refusal(-32022, data, asked=1)
    assert f"only {told}" in str(error)
    assert "--protocol 1" in str(error)


@pytest.mark.parametrize("code", [-32600, -32601, -32603, -32000])
def test_any_other_error_is_no_refusal_of_the_version(code):
    assert read_refusal(code, {"supported": [1]}, asked=2) is None


def test_login_methods_come_along_and_a_broken_one_costs_only_itself():
    methods = [{"methodId": "a", "type": "agent", "name": "A"}, {"name": "broken"}, 7]
    assert [m.id for m in read_answer({**V2, "authMethods": methods}, asked=2).auth_methods] == [
        "a"
    ]
    old = [{"id": "a", "name": "A"}, {"methodId": "wrong shape"}]
    assert [m.id for m in read_answer({**V1, "authMethods": old}, asked=2).auth_methods] == ["a"]
    for nothing in ([], None, "x"):
        assert read_answer({**V2, "authMethods": nothing}, asked=2).auth_methods == ()


class V3Dialect(V2Dialect):
    """A version to come, which names itself by a member of its own."""

    version = 3


def test_a_further_version_is_one_row_of_the_table(monkeypatch):
    row = replace(
        VERSION,
        dialect=V3Dialect(),
        write_offer=lambda client, _served: {"client": client},
        is_spoken_in=lambda answer: answer.get("agent") is not None,
    )
    monkeypatch.setitem(negotiate.VERSIONS, 3, row)
    asked = initialize(CLIENT, version=3).params
    assert {"client", "info", "clientInfo"} <= set(asked)
    assert set(initialize(CLIENT, version=2).params) == set(asked) - {"client"}
    answer = {**V2, "protocolVersion": 3}
    assert read_answer({**answer, "agent": {}}, asked=3).dialect.version == 3
    assert read_answer(answer, asked=3).dialect.version == 2  # echoes the number
    assert read_answer({**answer, "agent": {}}, asked=2).dialect.version == 2
    assert check_version(3) == 3
    assert version_words(3) == "offer version 3, accept 1 and 2"


def test_a_version_may_be_left_to_this_client_and_a_wrong_one_is_refused_in_words():
    assert [check_version(version) for version in (None, 1, 2)] == [2, 1, 2]
    with pytest.raises(UsageError, match="no ACP protocol version 3; use 1 or 2"):
        check_version(3)


def test_a_refused_offer_is_made_once_more_in_the_oldest_version_alone():
    assert [version_to_retry(asked) for asked in (2, 1)] == [1, None]


def test_what_asking_for_a_version_means_is_said_in_words():
    assert version_words(1) == "force version 1"
    assert version_words(2) == "offer version 2, accept 1"

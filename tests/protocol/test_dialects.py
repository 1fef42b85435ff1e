"""What the dialects write is valid by the official schema; what they read of an agent's offer."""

from __future__ import annotations

import pytest
import schema_witness

from acp_notebook.protocol import negotiate
from acp_notebook.protocol.content import read_block
from acp_notebook.protocol.dialect import (
    Capabilities,
    ClientCapabilities,
    Implementation,
    SessionSetup,
)
from acp_notebook.protocol.fields import Malformed
from acp_notebook.protocol.v1 import dialect as v1
from acp_notebook.protocol.v1.normalize import MODE_OPTION_ID
from acp_notebook.protocol.v2 import dialect as v2
from acp_notebook.session.content import (
    AudioBlock,
    ImageBlock,
    ResourceBlock,
    ResourceLinkBlock,
    TextBlock,
)
from acp_notebook.session.updates import ConfigOption

DIALECTS = {1: v1.V1Dialect(), 2: v2.V2Dialect()}
both = pytest.mark.parametrize("version", [1, 2])
EVERYTHING = Capabilities(resume=True, replay=True)
STDIO = {
    "type": "stdio",
    "name": "kernel",
    "command": "/usr/bin/python",
    "args": ["-m", "x"],
    "env": [],
}
HTTP = {"type": "http", "name": "kernel", "url": "http://127.0.0.1:1/", "headers": []}
SERVERS = (STDIO, HTTP)
PLACE = SessionSetup("/project", SERVERS)
CONTENT = [
    TextBlock("hello"),
    ImageBlock("AA==", "image/png", "file:///a.png"),
    AudioBlock("AA==", "audio/wav"),
    ResourceLinkBlock("file:///a", "a", "A", "the a", "text/plain", 3),
    ResourceBlock("file:///a", text="x", mime_type="text/plain"),
    ResourceBlock("file:///b", blob="AA=="),
    read_block({"type": "text", "text": "as it came", "annotations": {"priority": 0.5}}),
]
MODE = ConfigOption(MODE_OPTION_ID, "Mode", "select", "ask", "mode")
MODEL = ConfigOption("model", "Model", "select", "small", "model")
FLAG = ConfigOption("verbose", "Verbose", "boolean", False)


def checked(version, call):
    schema_witness.check(
        version, schema_witness.params_name(version, call.method, "agent"), call.params
    )
    return call


@both
@pytest.mark.parametrize("directories", [(), ("/a", "/b")])
def test_a_new_session_is_valid_with_servers_and_directories(version, directories):
    call = checked(
        version, DIALECTS[version].new_session(SessionSetup("/project", SERVERS, directories))
    )
    assert call.params["cwd"] == "/project"
    assert call.params.get("additionalDirectories", []) == list(directories)


@both
def test_an_mcp_server_over_stdio_names_its_type_in_v2_only(version):
    written = DIALECTS[version].new_session(PLACE).params["mcpServers"]
    bare = {key: value for key, value in STDIO.items() if key != "type"}
    assert written == [bare if version == 1 else STDIO, HTTP]


@both
@pytest.mark.parametrize("replay", [True, False])
def test_taking_a_session_up_again_is_valid_and_replays_only_if_asked(version, replay):
    dialect = DIALECTS[version]
    call = checked(version, dialect.resume("s1", PLACE, EVERYTHING, replay=replay))
    assert call.params["sessionId"] == "s1"
    is_load = version == 1 and replay
    assert call.method == ("session/load" if is_load else "session/resume")
    start = {"type": "start"} if replay and version == 2 else None
    assert call.params.get("replayFrom") == start


@both
@pytest.mark.parametrize("replay", [True, False])
def test_a_session_is_not_taken_up_again_where_the_agent_cannot(version, replay):
    assert DIALECTS[version].resume("s1", PLACE, Capabilities(), replay=replay) is None


@both
@pytest.mark.parametrize(("cwd", "cursor"), [(None, None), ("/project", None), (None, "next")])
def test_a_page_of_the_session_list_is_valid_with_and_without_filter(version, cwd, cursor):
    call = checked(version, DIALECTS[version].list_sessions(cwd, cursor))
    assert call.params == {
        key: value for key, value in (("cwd", cwd), ("cursor", cursor)) if value is not None
    }


@both
def test_closing_deleting_and_logging_in_and_out_are_valid(version):
    dialect = DIALECTS[version]
    methods = [
        checked(version, call).method
        for call in (
            dialect.close_session("s1"),
            dialect.delete_session("s1"),
            dialect.login("key"),
            dialect.logout(),
        )
    ]
    log = {1: ["authenticate", "logout"], 2: ["auth/login", "auth/logout"]}[version]
    assert methods == ["session/close", "session/delete", *log]


def test_one_tool_call_or_terminal_can_be_cancelled_in_v2_only():
    assert checked(2, DIALECTS[2].cancel_tool_call("s1", "c1")).params["toolCallId"] == "c1"
    assert checked(2, DIALECTS[2].cancel_terminal("s1", "t1")).params["terminalId"] == "t1"
    assert DIALECTS[1].cancel_tool_call("s1", "c1") is None
    assert DIALECTS[1].cancel_terminal("s1", "t1") is None


@both
def test_a_prompt_is_valid_with_every_kind_of_content(version):
    call = checked(version, DIALECTS[version].prompt("s1", CONTENT))
    assert [block["type"] for block in call.params["prompt"]] == [
        "text",
        "image",
        "audio",
        "resource_link",
        "resource",
        "resource",
        "text",
    ]


@both
def test_a_cancel_is_valid_and_names_the_session(version):
    call = checked(version, DIALECTS[version].cancel("s1"))
    assert call == ("session/cancel", {"sessionId": "s1"})


@both
@pytest.mark.parametrize(("option", "value"), [(MODEL, "large"), (FLAG, True)])
def test_setting_an_option_is_valid_for_ids_and_booleans(version, option, value):
    call = checked(version, DIALECTS[version].set_option("s1", option, value))
    assert call.method == "session/set_config_option"
    assert call.params["value"] is value
    assert call.params["configId"] == option.id


def test_the_option_made_of_v1_modes_is_set_by_the_modes_api():
    call = checked(1, DIALECTS[1].set_option("s1", MODE, "code"))
    assert call == ("session/set_mode", {"sessionId": "s1", "modeId": "code"})


@both
@pytest.mark.parametrize("option_id", ["allow-once", "", None])
def test_a_permission_answer_is_valid_and_selects_by_the_exact_id(version, option_id):
    result = DIALECTS[version].permission_outcome(option_id)
    schema_witness.check(version, "RequestPermissionResponse", result)
    selected = {"outcome": "selected", "optionId": option_id}
    assert result["outcome"] == ({"outcome": "cancelled"} if option_id is None else selected)


@pytest.mark.parametrize(("asked", "readable_by"), [(2, [1, 2]), (1, [1])])
@pytest.mark.parametrize("serves", [True, False])
def test_initialize_is_valid_for_every_version_that_it_addresses(asked, readable_by, serves):
    offer = ClientCapabilities(**dict.fromkeys(ClientCapabilities.__slots__, serves))
    client = Implementation("client", "1.0", "A client")
    method, params = negotiate.initialize(client, version=asked, served=offer)
    for version in readable_by:
        schema_witness.check(version, "InitializeRequest", params)
        half = params["clientCapabilities" if version == 1 else "capabilities"]
        schema_witness.check(version, "ClientCapabilities", half)
    assert (method, params["protocolVersion"]) == ("initialize", asked)


@both
def test_a_prompt_waits_for_the_end_of_other_work_in_v1_only(version):
    assert DIALECTS[version].takes_prompts_while_busy is (version == 2)
    assert DIALECTS[version].version == version


# ---------------------------------------------------------------- what the agent offers


def test_v2_offers_are_objects_and_null_or_absent_is_no_offer():
    offered = {
        "prompt": {"image": {}, "audio": None},
        "mcp": {"http": {}, "stdio": True},
        "delete": {},
    }
    found = v2.read_capabilities({"capabilities": {"session": offered}})
    assert (found.sessions, found.image, found.audio, found.embedded_context) == (
        True,
        True,
        False,
        False,
    )
    assert (found.mcp_http, found.mcp_stdio, found.mcp_sse) == (True, False, False)
    assert (found.delete, found.additional_directories, found.logout) == (True, False, False)
    assert found.list_sessions
    assert found.resume
    assert found.replay
    assert found.close


@pytest.mark.parametrize("session", [{}, {"session": None}, {"session": True}, {"session": []}])
def test_v2_without_the_session_capability_offers_no_sessions(session):
    assert v2.read_capabilities({"capabilities": session}) == Capabilities(sessions=False)


def test_v1_offers_are_booleans_and_session_objects():
    found = v1.read_capabilities(
        {
            "agentCapabilities": {
                "loadSession": True,
                "promptCapabilities": {"image": True, "audio": "yes", "embeddedContext": False},
                "mcpCapabilities": {"http": True, "sse": True},
                "sessionCapabilities": {"resume": {}, "list": None, "close": True},
                "auth": {"logout": {}},
            }
        }
    )
    assert (found.image, found.audio, found.embedded_context) == (True, False, False)
    assert (found.mcp_http, found.mcp_sse, found.mcp_stdio) == (True, True, True)
    assert (found.replay, found.resume, found.list_sessions, found.close) == (
        True,
        True,
        False,
        False,
    )
    assert (found.delete, found.additional_directories, found.logout) == (False, False, True)


@pytest.mark.parametrize("answer", [{}, {"agentCapabilities": None}, {"agentCapabilities": []}])
def test_v1_without_capabilities_offers_the_baseline_alone(answer):
    assert v1.read_capabilities(answer) == Capabilities(mcp_stdio=True)


def test_login_methods_are_read_from_either_shape_and_unknown_types_are_kept():
    old = v1.read_auth_method({"id": "key", "name": "Key", "env": {"A": "1", "B": 2}})
    assert (old.id, old.type, old.env) == ("key", "agent", (("A", "1"),))
    new = v2.read_auth_method(
        {
            "methodId": "tty",
            "type": "terminal",
            "args": ["login", 3],
            "env": [{"name": "A", "value": "1"}, "x"],
        }
    )
    assert (new.id, new.name, new.type, new.args) == ("tty", "tty", "terminal", ("login",))
    assert new.env == (("A", "1"),)
    odd = {"methodId": "x", "type": "_device", "name": "Device", "code": 7}
    assert v2.read_auth_method(odd).type == "_device"
    assert v2.read_auth_method(odd).raw == odd


@pytest.mark.parametrize("read", [v1.read_auth_method, v2.read_auth_method])
@pytest.mark.parametrize("raw", [{}, {"name": "no id"}, [], None])
def test_a_login_method_without_an_id_is_malformed(read, raw):
    with pytest.raises(Malformed):
        read(raw)


@both
def test_an_agent_that_does_not_say_who_it_is_has_a_plain_name(version):
    read = {1: v1.read_info, 2: v2.read_info}[version]
    key = {1: "agentInfo", 2: "info"}[version]
    assert read({}).label == "agent"
    assert read({key: {"name": "x", "title": "The X", "version": "2"}}).label == "The X"
    assert read({key: {"name": "x", "title": 3}}).label == "x"

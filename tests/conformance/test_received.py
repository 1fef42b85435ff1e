"""Whatever an agent sends: it is read, kept, shown and answered, and the connection lives.

Valid traffic is made from the official schemas; the rest are mutations of it.
"""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass

import pytest
import schema_traffic
import schema_witness
from conversation import stage
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acp_notebook.jsonrpc import Notification, dump, parse
from acp_notebook.protocol.v1.normalize import V1Reader
from acp_notebook.protocol.v2.normalize import V2Reader
from acp_notebook.session import updates as u
from acp_notebook.session.content import Content
from acp_notebook.session.reducer import apply
from acp_notebook.session.state import SessionState

READERS = {1: V1Reader, 2: V2Reader}
VERSIONS = [1, 2]
KINDS = [(version, kind) for version in VERSIONS for kind in schema_witness.update_kinds(version)]
# Members that the model has no place for: hints for looks, extensions, what tells variants apart.
NOT_KEPT = {"_meta", "annotations", "icons", "type", "group", "groupId", "format", "sessionUpdate"}
IS_LONG = settings.get_current_profile_name() == "long"
EXAMPLES = settings.default.max_examples if IS_LONG else 15
FEW = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module", params=VERSIONS, ids=["v1", "v2"])
def staged(request, tmp_path_factory):
    """A client and its agent, shared by all examples of a version."""
    with stage(request.param, tmp_path_factory.mktemp("folder")) as found:
        yield found


# ---------------------------------------------------------------- one update at a time


@pytest.mark.requirement("WIRE-5")
@pytest.mark.parametrize(("version", "kind"), KINDS)
def test_every_word_of_an_update_is_kept(version, kind):
    updates = schema_traffic.whole_updates(version, kind)
    schema_witness.check(version, "SessionUpdate", updates[0])
    for update in updates:
        reader, state = READERS[version](), SessionState()
        reader.opened(SET_UP)
        assert [each for each in reader.update(update) if apply(state, each)], "nothing changed"
        assert state.violations == []
        kept = words_of(state) | words_of([reader._mode] if version == 1 else [])
        # Adjacent text is one block, whatever blocks it came in.
        lost = [path for path, word in leaves(update) if not any(word in each for each in kept)]
        assert lost == []


SET_UP = {"modes": {"currentModeId": "m", "availableModes": [{"id": "m", "name": "M"}]}}


def leaves(value, path=()):
    """Every text of a value that the model has a place for."""
    members = value.items() if isinstance(value, dict) else enumerate(value)
    for name, inner in members:
        if name in NOT_KEPT:
            continue
        if isinstance(inner, (dict, list)):
            yield from leaves(inner, (*path, name))
        elif isinstance(inner, str):
            yield (*path, name), "words" if inner == "d29yZHM=" and name == "data" else inner


def words_of(value):
    """Every text in a state, without the wire objects that known things came from."""
    if isinstance(value, (bytes, bytearray)):
        return {value.decode()}
    if isinstance(value, dict):
        return words_of([*value.keys(), *value.values()])
    if isinstance(value, (list, tuple, set, Content)):
        return set().union(*map(words_of, value))
    if is_dataclass(value):
        found = {}
        for field in fields(value):
            if field.name != "raw" or is_unknown(value):
                found[field.name] = getattr(value, field.name)
        known = words_of(list(found.values()))
        data = getattr(value, "data", None)
        return known | ({"words"} if data == "d29yZHM=" else set())
    return {value} if isinstance(value, str) else set()


def is_unknown(value):
    unknown = (u.UnknownUpdate, u.UnknownItem, u.UnknownSubject, u.BackgroundItem)
    is_other = getattr(value, "type", None) in schema_traffic.UNKNOWN_NAMES
    return is_other or isinstance(value, unknown)


# ---------------------------------------------------------------- valid traffic


@pytest.mark.requirement("WIRE-5", "NOTE-1")
@FEW
@given(data=st.data())
def test_whatever_the_schema_allows_is_read_and_shown(staged, data):
    version = staged.agent.version
    updates = data.draw(st.lists(schema_traffic.update(version, None), max_size=8))
    conversation = staged.begin()
    for update in updates:
        conversation.tell(update)
    record = conversation.check()
    assert conversation.state.violations == []
    assert set(record) == {"text/html", "text/markdown", "text/plain"}


@pytest.mark.parametrize(("version", "kind"), KINDS)
@FEW
@given(data=st.data())
def test_a_valid_update_of_each_kind_breaks_no_rule_and_changes_something(version, kind, data):
    update = data.draw(schema_traffic.update(version, kind))
    reader, state = READERS[version](), SessionState()
    found = reader.update(as_received(update))
    assert found
    for each in found:
        assert not isinstance(each, (u.Violation, u.UnknownUpdate))
        assert apply(state, each)


def requests(version):
    """Every request that the schema lets an agent make, with its params."""
    found = []
    for name, schema in schema_witness.definitions(version).items():
        if schema.get("x-side") == "client" and name.endswith("Request"):
            params = schema_traffic.message(version, name)
            if schema["x-method"] == "terminal/create":  # what is run must be harmless
                params = params.map(lambda given: {**given, "command": "true"})
            found.append(st.tuples(st.just(schema["x-method"]), params))
    return st.one_of(found)


@pytest.mark.process
@pytest.mark.requirement("WIRE-4")
@FEW
@given(data=st.data())
def test_every_request_of_the_schema_gets_one_answer(staged, data):
    asked = data.draw(st.lists(requests(staged.agent.version), min_size=1, max_size=5))
    conversation = staged.begin()
    for method, params in asked:
        belongs = {"sessionId": conversation.id} if "sessionId" in params else {}
        conversation.ask(method, {**params, **belongs})
    conversation.check()


# ---------------------------------------------------------------- broken traffic


@pytest.mark.requirement("WIRE-5")
@FEW
@given(data=st.data())
def test_what_is_broken_costs_only_itself(staged, data):
    version = staged.agent.version
    valid = schema_traffic.update(version, None)
    updates = data.draw(st.lists(schema_traffic.broken(valid), min_size=1, max_size=6))
    conversation = staged.begin()
    words = []
    for number, update in enumerate(updates):
        conversation.tell(update)
        words.append(f"good-{number}.")
        conversation.say(words[-1], f"good-{number}")
    record = conversation.check()
    assert len(conversation.state.violations) <= len(updates)
    for shown in (conversation.page.text, record["text/plain"], record["text/markdown"]):
        places = [shown.find(word) for word in words]
        assert -1 not in places
        assert places == sorted(places)


@pytest.mark.process
@pytest.mark.requirement("WIRE-4")
@FEW
@given(data=st.data())
def test_every_broken_request_gets_one_answer_too(staged, data):
    valid = requests(staged.agent.version)
    asked = data.draw(st.lists(valid.flatmap(break_params), min_size=1, max_size=5))
    conversation = staged.begin()
    for method, params in asked:
        if isinstance(params, dict) and data.draw(st.booleans()):
            params = {**params, "sessionId": conversation.id}  # noqa: PLW2901
        if method == "terminal/create":
            params = {**params, "command": data.draw(st.sampled_from([None, [], "", "\x00"]))}  # noqa: PLW2901
        conversation.ask(method, params)
    conversation.say("still here.")
    conversation.check()
    assert "still here." in conversation.page.text


def break_params(request):
    method, params = request
    whole = st.sampled_from([None, [], "", 7, {}]) if method != "terminal/create" else st.just({})
    broken = schema_traffic.broken(st.just(params)) if params else whole
    return st.tuples(st.just(method), broken | whole)


@pytest.mark.requirement("WIRE-1", "WIRE-2")
@FEW
@given(data=st.data())
def test_frames_that_are_cut_or_nonsense_cost_only_themselves(staged, data):
    conversation = staged.begin()
    update = data.draw(schema_traffic.update(staged.agent.version, None))
    whole = json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": {
        "sessionId": conversation.id, "update": update}}).encode()  # fmt: skip
    frames = data.draw(st.lists(mangled(whole), min_size=1, max_size=5))
    staged.agent.send_bytes(*frames)
    conversation.say("still here.")
    conversation.check()
    assert "still here." in conversation.page.text


def mangled(frame):
    nested = b'{"jsonrpc":"2.0","method":"session/update","params":' + b"[" * 100_000
    lone = (
        b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"\\ud800","update":1}}'
    )
    odd = [b"", b"[]", b"null", b"\x00\xff\xfe", nested, lone, b'{"id":null,"result":1}']
    numbers = b'{"jsonrpc":"2.0","method":"session/update","params":' + b"9" * 5000 + b"}"
    return st.one_of(
        st.sampled_from([*odd[:1], *odd[2:], numbers]),
        st.integers(0, len(frame) - 1).map(lambda cut: frame[:cut]),
        st.integers(0, len(frame) - 1).map(
            lambda place: frame[:place] + b"\xf0" + frame[place + 1 :]
        ),
    )


def as_received(message):
    """The message as a reader gets it: half a pair of surrogates cannot come over the wire."""
    return parse(dump(Notification("n", message))).params

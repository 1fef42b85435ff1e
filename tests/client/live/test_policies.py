"""What each policy decides, and that none of them ever widens by fallback."""

from __future__ import annotations

import itertools

import pytest

from acp_notebook.client.live.policies import (
    POLICIES,
    Decision,
    PermissionQuestion,
    check_policy,
    chosen_by_function,
    decide,
    question_of,
    rejection,
)
from acp_notebook.errors import UsageError
from acp_notebook.session import updates as u
from acp_notebook.session.reducer import apply
from acp_notebook.session.state import SessionState
from acp_notebook.session.updates import PermissionOption

proves = pytest.mark.requirement
KINDS = ("allow_once", "allow_always", "reject_once", "reject_always", "_perhaps", "")
ONCE = PermissionOption("a1", "Allow", "allow_once")
ALWAYS = PermissionOption("aa", "Always", "allow_always")
NO = PermissionOption("r1", "Reject", "reject_once")
NEVER = PermissionOption("ra", "Never", "reject_always")
ODD = PermissionOption("odd", "Perhaps", "_perhaps")


def question(*options, kind="edit"):
    return PermissionQuestion("May I?", None, tuple(options), None, kind)


@proves("PERM-6")
@pytest.mark.parametrize(
    "kinds", [*itertools.combinations(KINDS, 2), *itertools.combinations(KINDS, 1)]
)
def test_no_policy_ever_chooses_more_than_allow_once(kinds):
    options = [PermissionOption(f"{n}", kind or "?", kind) for n, kind in enumerate(kinds)]
    by_id = {option.option_id: option.kind for option in options}
    for policy, tool in itertools.product(POLICIES, ("read", "search", "edit", None, "_read")):
        decision = decide(policy, question(*options, kind=tool))
        if decision is None or decision.option_id is None:
            continue
        chosen = by_id[decision.option_id]
        assert chosen == "allow_once" or chosen.startswith("reject")
        if chosen == "allow_once":
            assert policy == "allow" or (policy == "reads" and tool in {"read", "search"})


@pytest.mark.parametrize(
    ("policy", "kind", "chosen"),
    [
        ("ask", "read", None),
        ("reads", "read", "a1"),
        ("reads", "search", "a1"),
        ("reads", "edit", None),
        ("reads", None, None),
        ("allow", "execute", "a1"),
        ("reject", "read", "r1"),
    ],
)
def test_each_policy_decides_what_its_name_says(policy, kind, chosen):
    decision = decide(policy, question(ONCE, ALWAYS, NO, NEVER, kind=kind))
    assert decision == (Decision(chosen, f"policy {policy}") if chosen else None)


@proves("PERM-2")
def test_allow_asks_where_only_always_or_an_unknown_kind_is_offered():
    assert decide("allow", question(ALWAYS, ODD, NO)) is None


@proves("PERM-6")
@pytest.mark.parametrize("policy", ["allow", "reads"])
def test_several_ways_to_allow_are_a_choice_that_no_policy_makes(policy):
    other = PermissionOption("a2", "Allow in the other way", "allow_once")
    assert decide(policy, question(ONCE, other, NO, kind="read")) is None
    twice = PermissionOption("aa2", "Always, everywhere", "allow_always")
    assert decide(policy, question(ALWAYS, ONCE, twice, kind="read")).option_id == "a1"


@proves("PERM-2")
def test_refusing_chooses_a_reject_option_and_once_before_always():
    assert rejection((ONCE, NEVER, NO), "me") == Decision("r1", "me")
    assert rejection((ONCE, NEVER), "me") == Decision("ra", "me")


@proves("PERM-2")
def test_where_no_option_refuses_the_answer_is_cancelled_and_says_why():
    assert rejection((ONCE, ODD), "me") == Decision(None, "me; the agent offers no way to refuse")


def test_a_functions_choice_must_be_an_option():
    assert chosen_by_function("odd", (ONCE, ODD)) == Decision("odd", "your policy function")
    assert chosen_by_function(None, (ONCE,)) is None
    for nonsense in ("other", "", True, 0, [], ONCE):
        with pytest.raises(UsageError, match="not one of the options: 'a1'"):
            chosen_by_function(nonsense, (ONCE,))


def test_a_policy_is_a_name_or_a_function():
    assert [check_policy(name) for name in POLICIES] == list(POLICIES)
    assert check_policy(print) is print
    with pytest.raises(UsageError, match="ask, reads, allow, reject, or a function"):
        check_policy("yes")


@pytest.mark.parametrize(
    ("subject", "kind"),
    [
        (u.ToolCallSubject(u.ToolCallId("c")), "read"),
        (u.CommandSubject("ls", "/", u.ToolCallId("c")), "read"),
        (u.CommandSubject("ls", "/"), None),
        (u.ToolCallSubject(u.ToolCallId("unknown")), None),
        (u.UnknownSubject("_x", {}), None),
        (None, None),
    ],
)
def test_the_question_names_the_kind_of_the_tool_it_is_about(subject, kind):
    state = SessionState()
    apply(state, u.ToolCallUpdate(u.ToolCallId("c"), kind="read"))
    request = u.PermissionRequested(u.PermissionId("1"), "May I?", (ONCE,), "why", subject)
    asked = question_of(request, state)
    assert (asked.title, asked.description, asked.kind) == ("May I?", "why", kind)

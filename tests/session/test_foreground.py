"""When a turn ends (STATE-2) and what cancel, permission and loss of the agent do to it."""

from __future__ import annotations

import pytest

from acp_notebook.session import updates as u
from acp_notebook.session.changes import EntryChanged, EntryRemoved, HeaderChanged, PromptChanged
from acp_notebook.session.content import TextBlock
from acp_notebook.session.reducer import apply
from acp_notebook.session.state import EntryKey, SessionState

TYPED = (TextBlock("hello"),)
RUNNING, REQUIRES_ACTION = u.StateUpdate("running"), u.StateUpdate("requires_action")
END, CANCELLED = u.StateUpdate("idle", "end_turn"), u.StateUpdate("idle", "cancelled")
BARE_IDLE = u.StateUpdate("idle")
FAILURE = u.Failure("no credit", -32603)


def sent(prompt_id="p1"):
    return u.PromptSent(prompt_id, TYPED)


def accepted(prompt_id="p1", message_id=None):
    return u.PromptAccepted(prompt_id, message_id)


def failed(prompt_id="p1"):
    return u.PromptFailed(prompt_id, FAILURE)


def user(message_id="u1"):
    return u.MessageUpdate("user", message_id, TYPED)


def user_chunk(message_id="u1"):
    return u.MessageChunk("user", message_id, TYPED[0])


def played(*updates, state=None):
    state = state or SessionState()
    for update in updates:
        apply(state, update)
    return state


def phases(state):
    return {prompt_id: prompt.phase for prompt_id, prompt in state.prompts.items()}


# ---------------------------------------------------------------- one prompt, in every order


ORDERS = {
    "lifecycle page: answer, message, running": [accepted(), user(), RUNNING],
    "codex: running, message chunk, answer": [RUNNING, user_chunk(), accepted()],
    "claude: message, answer, running": [user(), accepted(), RUNNING],
    "running before the message, answer with an id": [RUNNING, accepted(message_id="u1"), user()],
    "answer with an id, then the message": [accepted(message_id="u1"), user(), RUNNING],
    "message, then an answer with its id": [user(), accepted(message_id="u1"), RUNNING],
    "no message at all": [accepted(), RUNNING],
    "no running at all": [accepted(), user()],
    "neither message nor running": [accepted()],
    "an unknown state in place of running": [accepted(), u.StateUpdate("_thinking")],
    "the answer last of all": [user(), RUNNING],
}


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
def test_one_idle_with_a_stop_reason_ends_the_turn_in_whatever_order_it_began(order):
    state = played(sent(), *order)
    assert not state.prompts["p1"].is_ended
    apply(state, END)
    assert state.prompts["p1"].is_ended
    assert state.prompts["p1"].stop_reason == "end_turn"
    assert state.pending == {}


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
def test_there_is_one_user_message_and_the_stand_in_gives_way_to_it(order):
    state = played(sent(), *order, END)
    has_message = EntryKey("user", "u1") in state.messages
    shown = [key for key in state.timeline if key.kind in {"user", "prompt"}]
    assert shown == [EntryKey("user", "u1") if has_message else EntryKey("prompt", "p1")]


def test_what_was_typed_stands_in_from_the_moment_of_sending():
    state = SessionState()
    changes = apply(state, sent())
    assert EntryChanged(EntryKey("prompt", "p1")) in changes
    assert state.timeline == [EntryKey("prompt", "p1")]
    assert EntryRemoved(EntryKey("prompt", "p1")) in apply(state, user())


def test_acceptance_is_not_the_end():
    assert phases(played(sent(), accepted())) == {"p1": "accepted"}
    assert phases(played(sent(), RUNNING, accepted())) == {"p1": "working"}


def test_an_answer_that_comes_after_the_end_changes_no_end():
    state = played(sent(), RUNNING, user(), END, accepted(message_id="u1"))
    assert phases(state) == {"p1": "ended"}
    assert state.prompts["p1"].stop_reason == "end_turn"


def test_an_answer_after_the_end_still_puts_its_message_in_place_of_the_stand_in():
    state = played(user("u9"), sent(), RUNNING, END, accepted(message_id="u9"))
    assert [key.kind for key in state.timeline] == ["user"]


# ---------------------------------------------------------------- idles that end nothing


@pytest.mark.parametrize("idle", [BARE_IDLE, END])
def test_an_idle_before_acceptance_ends_nothing(idle):
    assert phases(played(sent(), idle)) == {"p1": "sent"}


def test_an_idle_without_a_stop_reason_ends_no_prompt_that_has_not_begun():
    assert phases(played(sent(), accepted(), BARE_IDLE)) == {"p1": "accepted"}


def test_an_idle_without_a_stop_reason_ends_a_prompt_that_works():
    state = played(sent(), accepted(), RUNNING, BARE_IDLE)
    assert phases(state) == {"p1": "ended"}
    assert state.prompts["p1"].stop_reason is None


def test_a_repeated_idle_is_no_new_completion():
    state = played(sent(), accepted(), RUNNING, END)
    changes = apply(state, CANCELLED)
    assert not any(isinstance(change, PromptChanged) for change in changes)
    assert state.prompts["p1"].stop_reason == "end_turn"
    assert state.last_ended == "p1"


def test_requires_action_and_unknown_states_are_not_idle():
    state = played(sent(), accepted(), RUNNING)
    for update in (REQUIRES_ACTION, u.StateUpdate("_compacting"), u.StateUpdate("IDLE")):
        apply(state, update)
        assert state.activity == update.state
        assert not state.is_idle
        assert phases(state) == {"p1": "working"}


def test_every_stop_reason_is_kept_as_it_came():
    for reason in ("max_tokens", "max_turn_requests", "refusal", "_vendor", "unheard_of"):
        state = played(sent(), accepted(), RUNNING, u.StateUpdate("idle", reason))
        assert state.prompts["p1"].stop_reason == state.stop_reason == reason


def test_an_error_stop_carries_the_error_to_the_prompt():
    state = played(sent(), accepted(), RUNNING, u.StateUpdate("idle", "error", FAILURE))
    assert (state.prompts["p1"].stop_reason, state.prompts["p1"].failure) == ("error", FAILURE)
    assert state.error == FAILURE


# ---------------------------------------------------------------- prompts behind other work


def test_a_held_prompt_is_not_ended_by_the_idle_of_the_work_before_it():
    state = played(sent("p1"), accepted("p1"), user("u1"), RUNNING, sent("p2"), END)
    assert phases(state) == {"p1": "ended", "p2": "sent"}
    played(accepted("p2"), END, state=state)
    assert phases(state)["p2"] == "accepted", "a late idle ended the prompt behind"
    played(user("u2"), RUNNING, u.StateUpdate("idle", "refusal"), state=state)
    assert state.prompts["p2"].stop_reason == "refusal"


def test_a_held_prompt_that_was_accepted_early_waits_for_its_own_work():
    state = played(sent("p1"), accepted("p1"), RUNNING, sent("p2"), accepted("p2"), END)
    assert phases(state) == {"p1": "ended", "p2": "accepted"}
    assert phases(played(RUNNING, state=state))["p2"] == "working"
    assert phases(played(END, state=state))["p2"] == "ended"


def test_a_running_of_the_work_before_does_not_begin_the_prompt_behind():
    state = played(sent("p1"), accepted("p1"), RUNNING, sent("p2"), REQUIRES_ACTION, RUNNING)
    assert phases(state) == {"p1": "working", "p2": "sent"}


def test_prompts_behind_each_other_each_end_with_their_own_idle():
    state = played(sent("p1"), sent("p2"), sent("p3"))
    ended = []
    for prompt_id in ("p1", "p2", "p3"):
        played(accepted(prompt_id), user(f"u{prompt_id}"), RUNNING, END, state=state)
        ended.append([name for name, phase in phases(state).items() if phase == "ended"])
    assert ended == [["p1"], ["p1", "p2"], ["p1", "p2", "p3"]]


def test_prompts_behind_each_other_end_in_order_even_without_user_messages():
    state = played(*[update for name in ("p1", "p2", "p3") for update in (sent(name),)])
    played(accepted("p1"), accepted("p2"), accepted("p3"), state=state)
    for expected in (["p1"], ["p1", "p2"], ["p1", "p2", "p3"]):
        played(RUNNING, END, state=state)
        assert [name for name, phase in phases(state).items() if phase == "ended"] == expected


def test_a_prompt_that_joins_the_work_ends_with_the_same_idle():
    state = played(sent("p1"), accepted("p1"), user("u1"), RUNNING)
    played(sent("p2"), accepted("p2"), user("u2"), END, state=state)
    assert phases(state) == {"p1": "ended", "p2": "ended"}


def test_a_prompt_sent_during_work_that_is_nobodys_is_behind_it():
    state = played(RUNNING, sent(), accepted(), END)
    assert phases(state) == {"p1": "accepted"}
    assert phases(played(user(), RUNNING, END, state=state)) == {"p1": "ended"}


def test_a_prompt_begins_after_the_one_before_it_failed():
    state = played(sent("p1"), sent("p2"), failed("p1"), accepted("p2"), RUNNING, END)
    assert phases(state) == {"p1": "ended", "p2": "ended"}
    assert state.prompts["p2"].stop_reason == "end_turn"


def test_user_messages_go_to_the_oldest_prompt_without_one():
    state = played(sent("p1"), sent("p2"), user("u1"), user("u2"))
    assert [prompt.message_id for prompt in state.prompts.values()] == ["u1", "u2"]


def test_user_messages_go_by_the_id_of_the_answer_where_there_is_one():
    state = played(sent("p1"), sent("p2"), accepted("p2", "u2"), user("u2"))
    assert [prompt.message_id for prompt in state.prompts.values()] == [None, "u2"]
    assert phases(state) == {"p1": "sent", "p2": "working"}


def test_a_user_message_without_a_prompt_is_just_a_message():
    state = played(user())
    assert state.timeline == [EntryKey("user", "u1")]
    assert state.prompts == {}


# ---------------------------------------------------------------- queue


def test_a_queued_prompt_is_visible_and_can_be_taken_back_without_a_trace():
    state = played(u.PromptQueued("p1", TYPED))
    assert (phases(state), state.timeline) == ({"p1": "queued"}, [EntryKey("prompt", "p1")])
    assert state.open_prompts == []
    apply(state, u.PromptWithdrawn("p1"))
    assert (phases(state), state.timeline, state.pending) == ({"p1": "ended"}, [], {})
    assert state.prompts["p1"].stop_reason == "cancelled"


def test_a_prompt_that_was_sent_cannot_be_taken_back():
    state = played(u.PromptQueued("p1", TYPED), sent())
    assert apply(state, u.PromptWithdrawn("p1")) == []
    assert phases(state) == {"p1": "sent"}
    assert state.timeline == [EntryKey("prompt", "p1")]


def test_a_prompt_that_a_busy_agent_sent_back_goes_to_the_queue_and_out_again():
    state = played(sent("p1"), accepted("p1"), RUNNING, sent("p2"), u.PromptQueued("p2", TYPED))
    assert phases(state) == {"p1": "working", "p2": "queued"}
    played(END, sent("p2"), accepted("p2"), END, state=state)
    assert phases(state) == {"p1": "ended", "p2": "ended"}


# ---------------------------------------------------------------- errors


def test_an_error_answer_ends_the_prompt_with_the_error():
    state = played(sent(), failed())
    assert (phases(state), state.prompts["p1"].failure) == ({"p1": "ended"}, FAILURE)


def test_an_error_for_a_prompt_that_ended_already_changes_nothing():
    state = played(sent(), accepted(), RUNNING, END)
    assert apply(state, failed()) == []
    assert state.prompts["p1"].failure is None


def test_an_error_for_a_prompt_behind_ends_no_other_work():
    state = played(sent("p1"), accepted("p1"), RUNNING, sent("p2"), failed("p2"))
    assert (state.activity, phases(state)) == ("running", {"p1": "working", "p2": "ended"})


# ---------------------------------------------------------------- cancel


def test_cancel_shows_unfinished_tool_calls_as_cancelled_at_once_and_later_updates_win():
    state = played(
        sent(),
        RUNNING,
        u.ToolCallUpdate("done", status="completed"),
        u.ToolCallUpdate("open", status="in_progress"),
        u.ToolCallUpdate("odd", status="_odd"),
    )
    changes = apply(state, u.CancelSent())
    assert {key: call.status for key, call in state.tool_calls.items()} == {
        "done": "completed",
        "open": "cancelled",
        "odd": "cancelled",
    }
    assert EntryChanged(EntryKey("tool_call", "open")) in changes
    apply(state, u.ToolCallUpdate("open", status="completed"))
    apply(state, u.MessageChunk("agent", "m1", TextBlock("late")))
    assert state.tool_calls["open"].status == "completed"
    assert state.messages[EntryKey("agent", "m1")].text == "late"


def test_cancel_leaves_work_of_earlier_turns_and_reported_background_work_alone():
    state = played(
        RUNNING,
        u.ToolCallUpdate("earlier", status="in_progress"),
        END,
        u.StateUpdate("running", background=(u.BackgroundItem("tool_call", "behind"),)),
        u.ToolCallUpdate("behind", status="in_progress"),
        u.ToolCallUpdate("now", status="in_progress"),
        u.CancelSent(),
    )
    assert {key: call.status for key, call in state.tool_calls.items()} == {
        "earlier": "in_progress",
        "behind": "in_progress",
        "now": "cancelled",
    }


def test_the_turn_goes_on_after_cancel_until_the_agent_confirms():
    state = played(sent(), accepted(), RUNNING, u.CancelSent())
    assert state.is_cancelling
    played(RUNNING, REQUIRES_ACTION, state=state)
    assert phases(state) == {"p1": "working"}
    apply(state, CANCELLED)
    assert (phases(state), state.is_cancelling) == ({"p1": "ended"}, False)
    assert state.prompts["p1"].stop_reason == "cancelled"


def test_an_agent_that_finished_before_the_cancel_reached_it_ended_as_it_says():
    state = played(sent(), accepted(), RUNNING, u.CancelSent(), END)
    assert state.prompts["p1"].stop_reason == "end_turn"
    assert not state.is_cancelling


def test_an_abort_error_after_a_cancel_is_the_cancel_and_no_failure():
    state = played(sent(), RUNNING, u.CancelSent(), failed())
    assert (state.prompts["p1"].stop_reason, state.prompts["p1"].failure) == ("cancelled", None)
    assert state.is_cancelling, "the agent has not said idle yet"
    assert not played(CANCELLED, state=state).is_cancelling


def test_an_abort_error_of_an_idle_agent_leaves_no_cancel_behind_for_the_next_prompt():
    state = played(sent("p1"), u.CancelSent(), failed("p1"))
    assert (phases(state), state.is_cancelling) == ({"p1": "ended"}, False)


def test_a_cancel_confirmed_before_acceptance_ends_the_prompt():
    state = played(sent(), u.CancelSent(), CANCELLED)
    assert phases(state) == {"p1": "ended"}


def test_a_late_idle_of_earlier_work_confirms_no_cancel():
    state = played(sent(), u.CancelSent(), END)
    assert phases(state) == {"p1": "sent"}


# ---------------------------------------------------------------- permissions


ASKED = u.PermissionRequested(
    "1", "Run it?", (u.PermissionOption("yes", "Yes", "allow_once"),), None, u.ToolCallSubject("c1")
)


def test_a_permission_stays_open_while_its_tool_call_changes():
    state = played(u.ToolCallUpdate("c1", status="pending"), ASKED)
    played(u.ToolCallUpdate("c1", status="in_progress", title="Run"), RUNNING, state=state)
    assert [permission.request for permission in state.open_permissions] == [ASKED]
    assert state.tool_calls["c1"].title == "Run"


def test_several_permissions_are_open_at_once_and_settled_in_any_order():
    second = u.PermissionRequested("2", "And this?", ASKED.options)
    state = played(ASKED, second, u.PermissionSettled("2", "yes", "you"))
    assert [permission.request.permission_id for permission in state.open_permissions] == ["1"]
    apply(state, u.PermissionSettled("1", None, "you"))
    assert state.open_permissions == []


def test_the_first_answer_to_a_permission_counts():
    state = played(ASKED, u.PermissionSettled("1", "yes", "you"))
    assert apply(state, u.PermissionSettled("1", None, "late")) == []
    assert state.permissions["1"].answer == u.PermissionSettled("1", "yes", "you")


def test_a_permission_is_an_entry_of_its_turn():
    state = played(sent(), accepted(), user(), RUNNING, ASKED)
    assert EntryKey("permission", "1") in state.entries_of("p1")


# ---------------------------------------------------------------- background and loss


def test_background_work_is_a_snapshot_that_every_state_update_replaces():
    items = (u.BackgroundItem("terminal", "t1"),)
    state = played(u.StateUpdate("idle", background=items))
    assert state.background == items
    assert played(RUNNING, state=state).background is None
    assert played(u.StateUpdate("idle", background=()), state=state).background == ()
    assert played(u.StateUpdate("idle", background=None), state=state).background is None


def test_updates_while_idle_are_applied_and_do_not_change_the_state():
    state = played(u.MessageChunk("agent", "m1", TextBlock("by the way")))
    assert state.is_idle
    assert state.messages[EntryKey("agent", "m1")].text == "by the way"


def test_an_agent_lost_in_mid_turn_settles_everything_at_once():
    state = played(
        sent("p1"),
        accepted("p1"),
        RUNNING,
        u.ToolCallUpdate("c1", status="in_progress"),
        ASKED,
        sent("p2"),
        u.PromptQueued("p3", TYPED),
    )
    lost = u.AgentLost("The agent ended with exit code 1.", "fatal: out of credits")
    changes = apply(state, lost)
    assert {prompt.failure.message for prompt in state.prompts.values()} == {lost.reason}
    assert (set(phases(state).values()), state.pending) == ({"ended"}, {})
    assert state.tool_calls["c1"].status == "interrupted"
    assert state.permissions["1"].answer == u.PermissionSettled("1", None, "the agent ended")
    assert (state.is_idle, state.is_connected) == (True, False)
    assert state.asides[next(key for key in state.timeline if key.kind == "lost")] == lost
    assert HeaderChanged() in changes


def test_an_agent_lost_while_cancelling_counts_as_cancelled():
    state = played(sent(), RUNNING, u.CancelSent(), u.AgentLost("It was ended."))
    assert (state.prompts["p1"].stop_reason, state.prompts["p1"].failure) == ("cancelled", None)
    assert not state.is_cancelling
    assert [key for key in state.timeline if key.kind == "lost"] == []


def test_an_agent_lost_while_idle_leaves_no_entry():
    state = played(sent(), accepted(), RUNNING, END, u.AgentLost("It was ended."))
    assert state.prompts["p1"].stop_reason == "end_turn"
    assert [key.kind for key in state.timeline] == ["prompt"]


def test_the_next_prompt_after_a_restored_agent_goes_as_usual():
    state = played(sent("p1"), RUNNING, u.AgentLost("gone"), u.SessionOpened())
    assert state.is_connected
    played(sent("p2"), accepted("p2"), RUNNING, END, state=state)
    assert state.prompts["p2"].stop_reason == "end_turn"

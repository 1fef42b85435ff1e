"""Waiting for what an agent does by itself, and waiting in async code."""

from __future__ import annotations

import asyncio

import pytest
from watching import BOUND_S, Person, answer, frames, sent, story, until, until_asked, until_text

from acp_notebook.client.waiting import TurnInterrupted
from acp_notebook.errors import TurnTimeout, UsageError

BY_ITSELF = ["works-by-itself", "works-by-itself-v2"]
proves = pytest.mark.requirement


class Clicking(Person):
    """Somebody who answers once the cell waits."""

    def __init__(self, click):
        self._click = click

    def wait(self, future, timeout_s):
        if self._click is not None and not future.done():
            click, self._click = self._click, None
            click()
        return super().wait(future, timeout_s)


@pytest.fixture(params=BY_ITSELF)
def at_work(request, start, person):
    """A session whose turn has ended and whose agent asks by itself."""
    session = start(story(request.param)).session
    assert session.prompt("go").text.startswith("the turn")
    until_asked(session)
    return session


@proves("STATE-4")
def test_a_wait_lasts_until_the_agent_rests(at_work, host):
    assert not at_work.is_at_rest
    host(Clicking(lambda: answer(at_work, until_asked(at_work)[0], "yes")))
    assert at_work.wait() is at_work
    assert at_work.is_at_rest
    until_text(at_work, "by itself, outcome: selected")
    assert at_work.last_turn.stop_reason == "end_turn"


def test_an_interrupted_wait_cancels_what_the_agent_does_and_asks(at_work, impatient):
    impatient(lambda: None)
    with pytest.raises(TurnInterrupted, match=r"^Turn interrupted"):
        at_work.wait()
    until_text(at_work, "by itself, outcome: cancelled")
    is_running = at_work.agent.protocol_version == 2
    # Version 1 has no turn that a cancel could mean: the question alone is taken back.
    assert len(sent(at_work, "session/cancel")) == is_running


def test_a_wait_has_its_time(at_work):
    with pytest.raises(TurnTimeout, match=r"still works after 0 s.*session\.stop"):
        at_work.wait(0)
    assert at_work.stop()
    until(at_work, lambda state: state.is_at_rest)


def test_nothing_is_waited_for_where_the_agent_rests_or_is_gone(start):
    session = start(story("exits-when-told")).session
    assert session.wait() is session
    assert session.prompt("exit").error
    assert session.wait() is session


def test_a_fork_of_the_process_does_not_wait_for_a_turn_that_it_cannot_see(start, monkeypatch):
    session = start(story("exits-when-told")).session
    turn = session.prompt("hang", wait=False)
    with monkeypatch.context() as fork:
        fork.setattr(session.agent.thread, "_process_id", -1)
        with pytest.raises(UsageError, match="This process is a fork"):
            turn.wait()
    turn.cancel()
    assert turn.wait().stop_reason == "cancelled"


def test_what_came_after_the_end_is_told_apart(at_work):
    state = at_work.live.state
    keys = at_work.agent.thread.call(state.entries_since_last_end)
    assert "permission" in [key.kind for key in keys]
    texts = [state.messages[key].text for key in keys if key.kind == "agent"]
    assert "the turn" not in texts


# in async code


def test_prompts_are_awaited_side_by_side(start):
    one, other = (start(story("exits-when-told"), label=label).session for label in "ab")

    async def answer_and_stop_the_other():
        turn = await other.aprompt("hello")
        one.stop()
        return turn

    async def both():
        return await asyncio.gather(one.aprompt("hang"), answer_and_stop_the_other())

    turns = asyncio.run(both())
    assert [turn.session for turn in turns] == [one, other]
    assert [turn.stop_reason for turn in turns] == ["cancelled", "end_turn"]


def test_the_loop_is_free_while_a_turn_is_awaited(v2_session):
    async def cancel_meanwhile():
        turn = v2_session.prompt("[[hang]]", wait=False)
        waiting = asyncio.ensure_future(turn.wait_async())
        await asyncio.sleep(0)
        assert not waiting.done()
        turn.cancel()
        return await waiting

    assert asyncio.run(cancel_meanwhile()).stop_reason == "cancelled"


def test_a_turn_can_be_awaited_itself(v2_session):
    async def prompt():
        return await v2_session.prompt("[[say:hello]]", wait=False)

    assert asyncio.run(prompt()).text == "hello"


def test_a_cancelled_task_cancels_its_turn(v2_session):
    async def give_up():
        task = asyncio.ensure_future(v2_session.aprompt("[[hang]]"))
        await asyncio.sleep(0)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(give_up())
    assert v2_session.last_turn.wait().stop_reason == "cancelled"
    assert len(sent(v2_session, "session/cancel")) == 1


def test_the_time_of_an_awaited_prompt_ends_the_wait_alone(v2_session):
    with pytest.raises(TurnTimeout, match="still runs after 0 s"):
        asyncio.run(v2_session.aprompt("[[hang]]", timeout=0))
    turn = v2_session.last_turn
    assert not turn.is_done
    turn.cancel()
    assert turn.wait().stop_reason == "cancelled"


def test_a_loop_that_is_over_is_not_told(v2_session, caplog):
    with pytest.raises(TurnTimeout):
        asyncio.run(v2_session.aprompt("[[hang]]", timeout=0))
    v2_session.stop()
    assert v2_session.last_turn.wait().is_done
    assert caplog.records == []


def test_who_shows_what_it_asks_is_there_before_it_is_told_to_do_anything(start, host):
    told = []

    class Watching(Person):
        def audience(self, agent):
            told.append([message.get("method") for message in frames(agent, "sent")])
            return super().audience(agent)

        def wait_for_agent(self, agent, work, *, is_start):
            work.result(BOUND_S)

    agent = start(story("exits-when-told"))
    host(Watching())
    agent.new_session()
    assert told == [["initialize", "session/new"]]
    assert [message["method"] for message in frames(agent, "sent")][2:] == ["session/new"]

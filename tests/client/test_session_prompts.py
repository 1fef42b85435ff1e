"""Prompting the official agents over real stdio: what goes out, what the turn holds at the end."""

from __future__ import annotations

import concurrent.futures

import pytest
from watching import (
    NODE_AGENT,
    answer,
    frames,
    sent,
    story,
    until,
    until_asked,
    until_text,
)

import acp_notebook
import acp_notebook as acp
from acp_notebook.errors import UnsupportedByAgent, UsageError
from acp_notebook.session.content import ImageBlock, TextBlock
from acp_notebook.session.updates import Cost

proves = pytest.mark.requirement
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGA"
    "hKmMIQAAAABJRU5ErkJggg=="
)


def kinds(turn: acp.Turn) -> list[str]:
    return [key.kind for key in turn.timeline]


# what the agent says


def test_a_plain_prompt_is_answered(session):
    turn = session.prompt("Good morning")
    assert turn.text == "Hello from the test agent."
    assert turn.stop_reason == turn.outcome == "end_turn"
    assert turn.error is None
    assert turn.is_done


@proves("MSG-1")
@proves("MSG-4")
def test_chunks_are_joined_in_the_order_received(session):
    turn = session.prompt("[[chunks:300:6]]")
    assert turn.text == "".join(f"{index} ".ljust(6, "x") for index in range(300))
    assert kinds(turn) == ["user", "agent"]


@proves("MSG-1")
def test_thoughts_are_kept_apart_from_the_reply(session):
    turn = session.prompt("[[think:Hm.]][[say:Yes.]][[think:Or no.]]")
    assert turn.text == "Yes."
    assert turn.thoughts == "Hm.\n\nOr no."
    assert kinds(turn) == ["user", "thought", "agent", "thought"]


@proves("MSG-6")
def test_chunks_without_an_id_after_a_tool_call_are_a_new_message(v1_session):
    turn = v1_session.prompt("[[say:one ]][[say:message]][[tool]][[say:another]]")
    assert turn.text == "one message\n\nanother"
    assert kinds(turn) == ["user", "agent", "tool_call", "agent"]


@proves("MSG-2")
def test_whole_messages_replace_and_clear(v2_session):
    assert v2_session.prompt("[[replace:keep]]").text == "CD"
    assert v2_session.prompt("[[replace]]").text == ""


@proves("PLAN-1")
def test_the_plan_is_the_last_one_shown(session):
    plan = session.prompt("[[plan]]").plan
    assert [(e.content, e.status, e.priority) for e in plan.entries] == [
        ("Read the cell", "completed", "high"),
        ("Run the cell", "in_progress", "low"),
    ]


@proves("TOOL-1")
@proves("TOOL-2")
@pytest.mark.parametrize(
    ("directive", "status"), [("[[tool]]", "completed"), ("[[tool:fail]]", "failed")]
)
def test_a_tool_call_ends_as_the_agent_says(session, directive, status):
    (call,) = session.prompt(directive).tool_calls
    assert (call.title, call.kind, call.status) == ("Search the files", "search", status)
    assert [item.block.text for item in call.content] == ["first hit", "second hit"]
    assert call.raw_input == {"pattern": "needle"}


@proves("TOOL-3")
def test_content_of_a_tool_update_replaces_what_was_gathered(v2_session):
    (call,) = v2_session.prompt("[[tool:replace]]").tool_calls
    assert [item.block.text for item in call.content] == ["two hits"]


@proves("TOOL-6")
def test_diffs_carry_paths_and_a_patch(session):
    turn = session.prompt("[[diff]]")
    first = turn.diffs[0]
    assert first.changes[0].path.endswith("/notes.txt")
    assert "-second" in first.patch.splitlines()
    assert "+changed" in first.patch.splitlines()
    assert {change.operation for diff in turn.diffs for change in diff.changes} >= {"modify", "add"}


@proves("TOOL-7")
def test_a_terminal_is_shown_with_split_characters_whole(v2_session):
    turn = v2_session.prompt("[[terminal]]")
    ((terminal_id,),) = [call.terminal_ids for call in turn.tool_calls]
    terminal = turn.read(lambda state, _: bytes(state.terminals[terminal_id].output))
    assert terminal.decode() == "price: €\n\x1b[31mred\x1b[0m\n"


@proves("USE-1")
def test_usage_is_reported(session):
    usage = session.prompt("[[usage]]").usage
    assert (usage.used, usage.size) == (53000, 200000)
    assert usage.cost == Cost(0.045, "USD")
    assert usage.fraction == pytest.approx(0.265)


@proves("USE-1")
def test_usage_that_makes_no_sense_has_no_fraction(node_session):
    usage = node_session.prompt("[[usage:odd]]").usage
    assert (usage.used, usage.fraction) == (10, None)


@proves("PROMPT-1")
@proves("MSG-5")
def test_images_go_out_and_come_in(session):
    turn = session.prompt([TextBlock("[[image]]"), ImageBlock(PIXEL, "image/png")])
    assert "images seen: 1" in turn.text
    assert turn.images == [ImageBlock(PIXEL, "image/png")]


@proves("PROMPT-2")
def test_an_image_for_an_agent_without_images_is_refused_before_it_is_sent(start):
    session = start(story("refuses-while-busy")).session
    with pytest.raises(UnsupportedByAgent, match=r"no image content\. Save it to a file"):
        session.prompt([TextBlock("look"), ImageBlock(PIXEL, "image/png")])
    assert sent(session, "session/prompt") == []
    assert session.turns == []


@proves("NOTE-1")
@proves("STATE-1")
@proves("TOOL-4")
def test_what_nobody_knows_is_kept_and_breaks_nothing(node_session):
    turn = node_session.prompt("[[unknown]][[notice:Mind the gap]][[say:done]]")
    assert turn.stop_reason == "end_turn"
    assert turn.text.endswith("done")
    assert kinds(turn).count("unknown") == 2
    assert [notice.title for notice in turn.notices] == ["Mind the gap"]
    (call,) = turn.tool_calls
    assert (call.kind, call.status) == ("_odd_kind", "completed")
    assert node_session.state == "idle"


def test_code_blocks_are_taken_out_of_the_reply(session):
    reply = "Look:\n```python\nprint(1)\n```\nand\n~~~\n```\nnested\n~~~\n````sh\nls\n```\n````"
    turn = session.prompt(f"[[say:{reply}]]")
    assert [(block.language, block.code) for block in turn.code_blocks] == [
        ("python", "print(1)\n"),
        ("", "```\nnested\n"),
        ("sh", "ls\n```\n"),
    ]


# what was typed


@proves("PROMPT-5")
@pytest.mark.parametrize(
    "more", ["", "[[messageId]]", "[[order:late]]", "[[messageId]][[order:late]]"]
)
def test_the_users_message_takes_the_place_of_the_typed_one(node_session, more):
    turn = node_session.prompt(f"[[say:hi]]{more}")
    assert kinds(turn) == ["user", "agent"]
    (message,) = turn.read(
        lambda state, keys: [state.messages[key] for key in keys if key.kind == "user"]
    )
    assert message.text == f"[[say:hi]]{more}"


@proves("PROMPT-3")
@pytest.mark.parametrize(("more", "result"), [("", {}), ("[[messageId]]", {"messageId": "user-1"})])
def test_both_answers_mean_accepted_and_not_over(v2_session, more, result):
    turn = v2_session.prompt(f"[[hang]]{more}", wait=False)
    until(v2_session, lambda state: state.activity == "running")
    prompt = turn.read(lambda state, _: state.prompts[turn.prompt_id])
    assert prompt.is_accepted
    assert not turn.is_done
    answers = [m.get("result") for m in frames(v2_session.agent, "received") if "result" in m]
    assert answers[-1] == result
    turn.cancel()
    assert turn.wait().stop_reason == "cancelled"


@pytest.mark.parametrize("empty", ["", "  \n", []])
def test_an_empty_prompt_is_refused_with_what_to_do(session, empty):
    with pytest.raises(UsageError, match="prompt is empty"):
        session.prompt(empty)
    assert session.turns == []


@proves("MSG-5")
def test_text_that_is_no_unicode_is_refused_and_the_session_goes_on(session):
    turn = session.prompt("half a pair: \ud800 ")
    assert turn.is_done
    assert session.prompt("[[say:still here]]").text == "still here"


# ends


@proves("STATE-3")
@pytest.mark.parametrize(
    "reason", ["end_turn", "max_tokens", "max_turn_requests", "refusal", "_custom", "of-the-future"]
)
def test_the_stop_reason_is_the_agents_word(session, reason):
    turn = session.prompt(f"[[say:a]][[stop:{reason}]]")
    assert turn.stop_reason == turn.outcome == reason
    if reason == "end_turn":
        assert turn.raise_for_stop() is turn
    else:
        with pytest.raises(acp.AcpNotebookError, match=reason):
            turn.raise_for_stop()


@proves("STATE-3")
def test_the_stop_reason_error_comes_with_its_error(v2_session):
    turn = v2_session.prompt("[[stop:error]]")
    assert turn.stop_reason == "error"
    assert turn.error == "the model is overloaded (code -32603)"
    with pytest.raises(acp.AcpNotebookError, match="the model is overloaded"):
        turn.raise_for_stop()


@proves("PROMPT-4")
def test_an_error_answer_ends_the_turn_with_message_and_data(session):
    turn = session.prompt("[[error:-32603:out of credits]]")
    assert turn.error == "out of credits: details of: out of credits (code -32603)"
    assert turn.stop_reason is None
    assert session.state == "idle"
    assert session.prompt("[[say:next]]").text == "next"


@proves("PROMPT-7")
def test_the_next_prompt_goes_to_the_same_session(session):
    first, second = session.prompt("[[say:one]]"), session.prompt("[[say:two]]")
    assert (first.text, second.text) == ("one", "two")
    assert [params["sessionId"] for params in sent(session, "session/prompt")] == [session.id] * 2
    assert session.turns == [first, second]
    assert session.last_turn is second


@proves("V1-2")
def test_in_v1_the_answer_is_the_end(v1_session):
    turn = v1_session.prompt("[[say:a]]")
    assert (turn.stop_reason, v1_session.state) == ("end_turn", "idle")


@proves("STATE-4")
def test_background_work_after_the_end_belongs_to_the_turn_that_began_it(node_session):
    turn = node_session.prompt("[[background]]")
    assert acp_notebook.last is turn
    until_text(node_session, "the background work is done")
    frames = [frame.data for frame in node_session.agent.recording.frames()]
    ended = max(index for index, data in enumerate(frames) if b"end_turn" in data)
    completed = max(index for index, data in enumerate(frames) if b'"completed"' in data)
    assert ended < completed
    assert [call.status for call in turn.tool_calls] == ["completed"]
    assert turn.text == "the background work is done"
    assert (turn.stop_reason, node_session.state) == ("end_turn", "idle")


# while the agent works


@proves("PROMPT-6")
def test_a_second_prompt_waits_in_this_client_and_is_sent_at_the_end(v1_session, person):
    first = v1_session.prompt("[[permission]]", wait=False)
    second = v1_session.prompt("[[say:second]]", wait=False)
    (question,) = until_asked(v1_session)
    assert len(sent(v1_session, "session/prompt")) == 1
    assert [key.kind for key in second.timeline] == ["prompt"]  # visible
    assert second.read(lambda state, _: state.prompts[second.prompt_id].phase) == "queued"
    answer(v1_session, question, "yes-once")
    assert second.wait().text == "second"
    assert first.is_done
    assert "second" not in first.text


@proves("PROMPT-6")
def test_a_queued_prompt_can_be_withdrawn(v1_session):
    first = v1_session.prompt("[[hang]]", wait=False)
    second = v1_session.prompt("[[say:second]]", wait=False)
    until(v1_session, lambda state: len(state.pending) == 2)
    second.cancel()
    assert second.wait().stop_reason == "cancelled"
    assert second.timeline == []
    assert not first.is_done
    first.cancel()
    assert first.wait().stop_reason == "cancelled"
    assert len(sent(v1_session, "session/prompt")) == 1


@proves("PROMPT-6")
def test_a_second_prompt_is_sent_at_once_to_an_agent_that_takes_it(v2_session, person):
    first = v2_session.prompt("[[permission]]", wait=False)
    (question,) = until_asked(v2_session)
    second = v2_session.prompt("[[say:second]]", wait=False)
    until(v2_session, lambda state: sum(key.kind == "user" for key in state.timeline) == 2)
    assert len(sent(v2_session, "session/prompt")) == 2
    answer(v2_session, question, "yes-once")
    assert first.wait().stop_reason == second.wait().stop_reason == "end_turn"


@proves("PROMPT-6")
def test_a_prompt_that_the_agent_refuses_while_it_works_is_kept_and_sent_later(start):
    session = start(story("refuses-while-busy")).session
    first = session.prompt("[[wait]]", wait=False)
    until_text(session, "turn 1")
    second = session.prompt("hello", wait=False)
    until(session, lambda state: state.prompts[second.prompt_id].phase == "queued")
    assert [key.kind for key in second.timeline] == ["prompt"]
    first.cancel()
    assert first.wait().stop_reason == "cancelled"
    assert second.wait().text == "turn 2"


def test_two_sessions_of_one_agent_work_side_by_side(session):
    other = session.agent.new_session()
    first, second = session.prompt("[[hang]]", wait=False), other.prompt("[[say:quick]]")
    assert second.text == "quick"
    assert not first.is_done
    first.cancel()
    first.wait()
    assert "quick" not in first.text


# waiting


def test_a_wait_that_times_out_leaves_the_turn_running(session):
    turn = session.prompt("[[hang]]", wait=False)
    with pytest.raises(TimeoutError, match=r"still runs after 0\.01 s.*turn\.cancel\(\)"):
        turn.wait(timeout=0.01)
    assert not turn.is_done
    assert turn.outcome == "still running"
    with pytest.raises(acp.AcpNotebookError, match="still running"):
        turn.raise_for_stop()
    turn.cancel()
    assert turn.wait().stop_reason == "cancelled"


def test_a_turn_can_be_read_from_many_threads_while_it_grows(session):
    turn = session.prompt("[[chunks:400:4]][[tool]][[plan]][[chunks:400:4]]", wait=False)

    def read(_: int) -> int:
        lengths = [0]
        while not turn.is_done:
            lengths.append(len(turn.text))
            turn.tool_calls, turn.plan, turn.timeline, turn.usage, turn.outcome, repr(session)
        assert lengths == sorted(lengths)
        return len(turn.text)

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        found = list(pool.map(read, range(4)))
    assert set(found) == {len(turn.text)}
    assert len(turn.text.replace("\n", "")) == 3200


def test_what_is_done_at_the_end_may_read_the_turn(session):
    turn = session.prompt("[[hang]]", wait=False)
    heard: concurrent.futures.Future[str] = concurrent.futures.Future()
    turn.done.add_done_callback(lambda _: heard.set_result(str(turn.stop_reason)))
    turn.cancel()
    assert heard.result(10) == "cancelled"


@proves("WIRE-9")
def test_the_agent_has_the_users_environment_and_the_additions(start, monkeypatch):
    monkeypatch.setenv("FROM_THE_USER", "inherited")
    session = start(NODE_AGENT, env={"ADDED": "too"}).session
    text = session.prompt("[[env:FROM_THE_USER]][[env:ADDED]]").text
    assert text == "FROM_THE_USER=inherited\n\nADDED=too"


@proves("SESS-1")
def test_the_folder_is_sent_as_an_absolute_path(start, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").mkdir()
    agent = start(story("refuses-while-busy"), cwd="here")
    (params,) = [m["params"] for m in frames(agent, "sent") if m.get("method") == "session/new"]
    assert params == {"cwd": str(tmp_path / "here"), "mcpServers": []}

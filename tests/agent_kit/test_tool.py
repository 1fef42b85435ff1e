"""Tool calls, diffs and terminals, as they are told and as v1 tells them."""

from __future__ import annotations

import base64

import pytest

from acp_notebook.agent_kit import updates
from acp_notebook.agent_kit.wire.v1 import WireV1


@pytest.fixture
def run(agent, connect):
    """Let a function drive one tool call; gives the tool as a client holds it, and the reply."""

    async def run(function, *args, version=None, **fields):
        @agent.prompt
        async def reply(turn):
            await function(await turn.tool("T", **fields), *args)

        client = await (connect(agent) if version is None else connect(agent, version))
        got = await client.prompt("Hi")
        assert got.error is None, got.error
        return got.tool("call_1"), got

    return run


def texts(tool):
    return [item["content"]["text"] for item in tool["content"]]


class TestTool:
    async def test_it_is_announced_pending_with_what_is_known(self, run, version):
        async def nothing(tool):
            assert (tool.title, tool.status, tool.ended) == ("T", "pending", False)

        _tool, got = await run(nothing, kind="read", input={"a": 1}, locations=["/x", ("/y", 3)])
        first = got.of_kind("tool_call", "tool_call_update")[0]
        assert first == {
            "sessionUpdate": "tool_call" if version == 1 else "tool_call_update",
            "toolCallId": "call_1",
            "title": "T",
            "kind": "read",
            "status": "pending",
            "rawInput": {"a": 1},
            "locations": [{"path": "/x"}, {"path": "/y", "line": 3}],
        }

    async def test_the_first_output_starts_it_and_pieces_add_up(self, run, version):
        async def work(tool):
            await tool.output("one")
            await tool.output({"type": "text", "text": "two"})
            await tool.complete(output={"n": 2})

        tool, got = await run(work)
        assert texts(tool) == ["one", "two"]
        assert (tool["status"], tool["rawOutput"]) == ("completed", {"n": 2})
        calls = got.of_kind("tool_call_update")
        assert [c["status"] for c in calls if "status" in c][-2:] == ["in_progress", "completed"]
        assert len(got.of_kind("tool_call_content_chunk")) == (0 if version == 1 else 2)

    async def test_a_last_text_comes_with_all_that_was_before(self, run):
        async def work(tool):
            await tool.output("one")
            await tool.complete("done")

        tool, _got = await run(work)
        assert texts(tool) == ["one", "done"]

    @pytest.mark.parametrize(
        ("end", "v1_status"), [("fail", "failed"), ("cancel", "failed"), ("complete", "completed")]
    )
    async def test_each_end_has_its_status(self, run, version, end, v1_status):
        async def work(tool):
            await getattr(tool, end)("why")
            assert tool.ended

        tool, _got = await run(work)
        v2_status = {"fail": "failed", "cancel": "cancelled", "complete": "completed"}[end]
        assert tool["status"] == (v1_status if version == 1 else v2_status)
        assert texts(tool) == ["why"]

    async def test_an_update_changes_only_what_is_given(self, run):
        async def work(tool):
            await tool.update(title="U", kind="edit", input=[1], output=[2], locations=["/z"])
            await tool.update(status="in_progress")
            await tool.start()
            await tool.complete()

        tool, got = await run(work)
        assert (tool["title"], tool["kind"], tool["rawInput"], tool["rawOutput"]) == (
            "U",
            "edit",
            [1],
            [2],
        )
        assert tool["locations"] == [{"path": "/z"}]
        assert got.of_kind("tool_call_update")[-2] == {
            "sessionUpdate": "tool_call_update",
            "toolCallId": "call_1",
            "status": "in_progress",
        }

    async def test_what_is_left_open_ends_with_the_turn(self, run):
        async def work(tool):
            await tool.start()

        tool, _got = await run(work)
        assert tool["status"] == "completed"


class TestDiff:
    async def change(self, run, old, new, version):
        async def work(tool):
            await tool.diff("/w/f.py", old, new)
            await tool.complete()

        tool, _got = await run(work, version=version)
        [item] = tool["content"]
        return item

    @pytest.mark.parametrize(
        ("old", "new", "operation"),
        [("a\n", "b\n", "modify"), (None, "b\n", "add"), ("a\n", None, "delete")],
    )
    async def test_v2_gets_a_patch_and_the_change(self, run, old, new, operation):
        item = await self.change(run, old, new, 2)
        assert item["changes"] == [{"operation": operation, "path": "/w/f.py", "fileType": "text"}]
        assert item["patch"]["format"] == "git_patch"
        assert item["patch"]["text"].startswith("diff --git /w/f.py /w/f.py\n")

    async def test_v1_gets_both_texts(self, run):
        head = {"type": "diff", "path": "/w/f.py"}
        assert await self.change(run, "a\n", "b\n", 1) == {
            **head,
            "oldText": "a\n",
            "newText": "b\n",
        }
        gone = WireV1({}).writer()(
            updates.tool_call("c", content=[updates.FileChange("/f", "a", None)])
        )
        assert gone[0]["content"][0]["newText"] == ""


class TestTerminal:
    async def work(self, tool, exit_code=0, signal=None):
        terminal = await tool.terminal("make", cwd="/elsewhere")
        await terminal.write("start\r\n\x1b[32mgreen\x1b[0m ")
        await terminal.write("✓".encode()[:2])
        await terminal.write("✓".encode()[2:])
        await terminal.exit(exit_code, signal=signal)
        await tool.complete()

    async def test_v2_tells_command_bytes_and_end(self, run):
        tool, got = await run(self.work, 1, version=2)
        assert tool["content"] == [{"type": "terminal", "terminalId": "terminal_1"}]
        begin, end = got.of_kind("terminal_update")
        assert (begin["command"], begin["cwd"]) == ("make", "/elsewhere")
        assert end["exitStatus"] == {"exitCode": 1}
        data = [base64.b64decode(u["data"]) for u in got.of_kind("terminal_output_chunk")]
        assert b"".join(data).decode() == "start\r\n\x1b[32mgreen\x1b[0m ✓"
        assert len(data) == 3

    @pytest.mark.parametrize(
        ("code", "signal", "end"),
        [(0, None, ""), (2, None, "\n\nExit code 2."), (None, "SIGKILL", "\n\nEnded by SIGKILL.")],
    )
    async def test_v1_tells_it_as_text_without_escapes(self, run, code, signal, end):
        tool, got = await run(self.work, code, signal, version=1)
        assert texts(tool) == [f"```console\n$ make\nstart\ngreen ✓\n```{end}"]
        assert got.of_kind("terminal_update", "terminal_output_chunk") == []

    async def test_v1_fences_what_has_fences(self, run):
        async def work(tool):
            terminal = await tool.terminal("")
            await terminal.write("```")

        tool, _got = await run(work, version=1)
        assert texts(tool) == ["````console\n```\n````"]

    async def test_v1_never_refers_to_a_terminal_that_the_client_did_not_make(self, agent, connect):
        @agent.prompt
        async def reply(turn):
            tool = await turn.tool("T")
            await tool.terminal("make")
            await turn.ask("Go on?", tool=tool)
            await tool.complete()

        client = await connect(agent, 1)
        await client.prompt("Hi")
        assert client.questions[0].params["toolCall"]["content"] == []


def test_v1_writes_a_paused_call_as_one_in_progress():
    [written] = WireV1({}).writer()(updates.tool_call("c", title="T", status="paused"))
    assert written["status"] == "in_progress"

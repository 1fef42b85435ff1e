"""The demo agent at work. The raw client judges every message by the official schema."""

from __future__ import annotations

import base64

import pytest
from wire_client import choose

STATUSES = ("completed", "in_progress", "pending")


def plans(reply):
    updates = reply.of_kind("plan", "plan_update")
    return [update.get("plan", update)["entries"] for update in updates]


class TestPlan:
    async def test_one_step_after_the_other_is_done(self, client):
        reply = await client.prompt("/plan")
        shown = [[entry["status"] for entry in entries] for entries in plans(reply)]
        done, now, open_ = STATUSES
        assert shown[0] == [now, open_, open_, open_]
        assert shown[2] == [done, done, now, open_]
        assert shown[4] == [done] * 4
        assert reply.text.endswith("All 4 steps are done.\n")

    async def test_the_plan_stays_the_same_plan(self, client, version):
        reply = await client.prompt("/plan")
        if version == 2:
            assert {u["plan"]["planId"] for u in reply.of_kind("plan_update")} == {"plan"}
        assert {tuple(e["content"] for e in entries) for entries in plans(reply)} == {
            ("Look at the data", "Find the outliers", "Repair the function", "Run the tests")
        }


class TestDiff:
    async def test_a_change_and_a_new_file_are_shown(self, client, version):
        tool = (await client.prompt("/diff")).tool("call_1")
        assert (tool["kind"], tool["status"]) == ("edit", "completed")
        changed, added = tool["content"]
        if version == 1:
            assert "total += value" in changed["oldText"]
            assert "fmean(values)" in changed["newText"]
            assert added["oldText"] is None
        else:
            assert [c["operation"] for c in changed["changes"] + added["changes"]] == [
                "modify",
                "add",
            ]
            assert "\n-        total += value\n" in changed["patch"]["text"]
            assert "\n--- /dev/null\n" in added["patch"]["text"]

    async def test_paths_are_absolute_and_in_the_session_s_folder(self, client):
        tool = (await client.prompt("/diff")).tool("call_1")
        assert all(place["path"].startswith("/work/") for place in tool["locations"])


class TestTerminal:
    async def test_a_command_its_output_and_its_end_are_shown(self, client, version):
        reply = await client.prompt("/terminal")
        tool = reply.tool("call_1")
        assert (tool["kind"], tool["status"], tool["rawOutput"]) == (
            "execute",
            "completed",
            {"exitCode": 0},
        )
        if version == 1:
            [item] = tool["content"]
            assert "✓ 3 passed in 0.12s" in item["content"]["text"]
            return
        assert tool["content"] == [{"type": "terminal", "terminalId": "terminal_1"}]
        output = [base64.b64decode(u["data"]) for u in reply.of_kind("terminal_output_chunk")]
        assert "\x1b[32m✓ 3 passed\x1b[0m" in b"".join(output).decode()
        with pytest.raises(UnicodeDecodeError):
            output[-1].decode()
        assert reply.of_kind("terminal_update")[-1]["exitStatus"] == {"exitCode": 0}


class TestTour:
    async def test_every_part_is_shown_once_in_order(self, client, version):
        reply = await client.prompt("/tour")
        seen = [kind for kind in reply.kinds if kind not in {"session_info_update", "running"}]
        if version == 1:
            expected = ["agent_thought_chunk", "agent_message_chunk", "plan", "tool_call"]
        else:
            expected = [
                "user_message",
                "agent_thought_chunk",
                "agent_message_chunk",
                "plan_update",
                "tool_call_update",
                "requires_action",
            ]
        assert seen[: len(expected)] == expected
        assert [reply.tool(f"call_{n}")["kind"] for n in (1, 2, 3)] == ["read", "edit", "execute"]
        assert all(reply.tool(f"call_{n}")["status"] == "completed" for n in (1, 2, 3))
        assert reply.of_kind("usage_update")[0]["used"] == 53_000
        assert {e["status"] for e in plans(reply)[-1]} == {"completed"}
        assert "250 rows, 3 outliers" in reply.text
        assert len(client.questions) == 1

    async def test_it_goes_on_without_the_tool_that_was_refused(self, client, version):
        client.answer_question = lambda _question: choose("reject")
        reply = await client.prompt("/tour")
        assert reply.tool("call_1")["status"] == ("failed" if version == 1 else "cancelled")
        assert reply.tool("call_3")["status"] == "completed"
        assert "not looked at, as you wished" in reply.text
        assert reply.stop_reason == "end_turn"

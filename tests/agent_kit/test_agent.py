"""What an author declares, and what is refused with a word on how to mend it."""

from __future__ import annotations

import pytest

from acp_notebook.agent_kit import Agent, Option


class TestDeclaring:
    @pytest.mark.parametrize("name", ["", "/plan", "two words", "tab\tbed", " plan"])
    def test_a_command_name_is_one_word_without_slash(self, agent, name):
        with pytest.raises(ValueError, match="one word, without the slash"):
            agent.command(name, "does it")

    def test_a_capability_must_be_known(self):
        with pytest.raises(ValueError, match="embedded_context"):
            Agent("x", accepts=["video"])

    @pytest.mark.parametrize("protocols", [(), (3,), (1, 2, 3)])
    def test_protocol_versions_must_be_spoken(self, protocols):
        with pytest.raises(ValueError, match="protocols"):
            Agent("x", protocols=protocols)

    def test_the_default_of_an_option_must_be_one_of_its_values(self):
        with pytest.raises(ValueError, match="not one of: a, b"):
            Option("o", "O", "c", {"a": "A", "b": "B"})
        with pytest.raises(ValueError, match="True or False"):
            Option("o", "O", "yes")

    def test_decorators_give_the_function_back(self, agent):
        async def function(_turn):
            pass

        assert agent.prompt(function) is function
        assert agent.command("do", "does it")(function) is function

    def test_the_title_is_left_out_if_there_is_none(self):
        assert Agent("x", version="1").info == {"name": "x", "version": "1"}


class TestReplying:
    async def test_without_a_reply_it_says_what_is_missing(self, agent, connect):
        client = await connect(agent)
        assert "@agent.prompt" in (await client.prompt("hi")).text

    async def test_a_command_goes_to_its_function_and_all_else_to_the_reply(self, agent, connect):
        @agent.command("shout", "Says it loud", hint="what")
        async def shout(turn):
            await turn.say(turn.argument.upper())

        @agent.prompt
        async def reply(turn):
            await turn.say(f"{turn.command}|{turn.argument}|{turn.text}")

        client = await connect(agent)
        assert (await client.prompt("/shout  hello\nyou ")).text == "HELLO\nYOU"
        assert (await client.prompt("/other x")).text == "other|x|/other x"
        assert (await client.prompt("just /shout")).text == "None|just /shout|just /shout"

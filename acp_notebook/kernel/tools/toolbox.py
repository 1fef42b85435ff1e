"""The tools that agents can call on this kernel, and the steps of a call: ask, run, show, answer.

Every call runs on the main thread, within bounds. Calls that can change something get a card in the
turn's cell. Knows no MCP.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final, NamedTuple

from acp_notebook.kernel.context.describe import describe
from acp_notebook.kernel.context.kinds import type_name
from acp_notebook.kernel.tools import schemas
from acp_notebook.kernel.tools.caller import Caller, Permit, ToolQuestion
from acp_notebook.kernel.tools.card import ToolCard
from acp_notebook.kernel.tools.cells import read_cells, remember
from acp_notebook.kernel.tools.descriptions import agent_result, shown_content, value_words
from acp_notebook.kernel.tools.functions import UserTool, user_tools
from acp_notebook.kernel.tools.namespace import find_value, in_a_line, user_variables
from acp_notebook.kernel.tools.results import ToolFailure, ToolResult, text_result
from acp_notebook.kernel.tools.running.agent_code import captured, run_code
from acp_notebook.kernel.tools.running.interruption import MainThreadWork, Stopped
from acp_notebook.kernel.tools.running.outcome import Outcome
from acp_notebook.kernel.tools.running.publishing import publish_below
from acp_notebook.kernel.waiting.kernel_loop import call_on_kernel_loop
from acp_notebook.session.admission import Admission

logger = logging.getLogger(__name__)

READ_LIMIT_S: Final = 20.0
DEFAULT_LIMIT_S: Final = 60.0
MAX_CODE_CHARS: Final = 20_000
PAGE_CHARS: Final = 6_000
DESCRIBED_CHARS: Final = 200_000
MAX_VARIABLES: Final = 200
# Return values of functions for which `value_words` is enough.
_PLAIN: Final = (str, bytes, bool, int, float, dict, list, tuple, type(None))

Arguments = dict[str, Any]


class Call(NamedTuple):
    """One call of a tool: the session that makes it, and the work that it belongs to."""

    caller: Caller
    admission: Admission


class Job(NamedTuple):
    """Code to run on the main thread; `run` fills in the outcome, also when it fails."""

    run: Callable[[], None]
    outcome: Outcome
    limit_s: float


class Toolbox:
    """The built-in tools and the user's functions."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._tools: dict[str, Callable[[Call, Arguments], Awaitable[ToolResult]]] = {
            "list_variables": self._list_variables,
            "inspect": self._inspect,
            "run_code": self._run_code,
            "read_cells": self._read_cells,
            "propose_cell": self._propose_cell,
        }

    def listed(self) -> list[dict[str, Any]]:
        """Return the tools in MCP's form."""
        own = [
            {"name": tool.name, "description": tool.description, "inputSchema": tool.schema}
            for tool in user_tools().values()
        ]
        return [*schemas.BUILT_IN, *own]

    async def call(self, caller: Caller, name: str, arguments: Arguments) -> ToolResult:
        """Run a tool for the agent of a session; every failure becomes an error result."""
        try:
            admission = await caller.admit()
            if name in self._tools:
                schemas.check(name, arguments)
                return await self._tools[name](Call(caller, admission), arguments)
            return await self._call_function(Call(caller, admission), self._find(name), arguments)
        except ToolFailure as failure:
            return text_result(str(failure), is_error=True)
        except Stopped as stopped:
            return text_result(f"Stopped: {stopped}", is_error=True)
        except Exception as error:
            logger.exception("The tool %s failed.", name)
            return text_result(f"{name} failed: {type(error).__name__}: {error}", is_error=True)

    def _find(self, name: str) -> UserTool:
        tool = user_tools().get(name)
        if tool is None:
            known = ", ".join([*self._tools, *user_tools()])
            raise ToolFailure(f"There is no tool {name!r}. There are: {known}.")
        return tool

    async def _list_variables(self, call: Call, given: Arguments) -> ToolResult:
        part = str(given.get("containing", "")).casefold()

        def read() -> str:
            lines = [
                ", ".join(filter(None, (f"{name}: {type_name(value)}", in_a_line(value))))
                for name, value in user_variables(self._shell)
                if part in name.casefold()
            ]
            rest = len(lines) - MAX_VARIABLES
            if rest > 0:
                lines = [*lines[:MAX_VARIABLES], f"… {rest:,} more; ask with `containing`."]
            return "\n".join(lines) or "There are no such variables."

        return text_result(await self._read(call, "list_variables", "", read))

    async def _inspect(self, call: Call, given: Arguments) -> ToolResult:
        path, start = str(given["name"]), int(given.get("offset", 0))

        def read() -> str:
            return describe(find_value(self._shell, path), DESCRIBED_CHARS)

        text = await self._read(call, "inspect", repr(path), read)
        page = text[start : start + PAGE_CHARS]
        rest = len(text) - start - len(page)
        if rest > 0:
            more = start + len(page)
            page += f"\n… {rest:,} more characters: inspect again with offset={more}."
        return text_result(page or f"The description has only {len(text):,} characters.")

    async def _read_cells(self, call: Call, given: Arguments) -> ToolResult:
        last, number = int(given.get("last", 10)), given.get("number")

        def read() -> str:
            return read_cells(self._shell, last=last, number=number)

        return text_result(await self._read(call, "read_cells", "", read))

    async def _read(self, call: Call, tool: str, what: str, read: Callable[[], str]) -> str:
        """Read on the main thread. In the user's turn nothing has to be allowed for it."""
        permit = Permit(call.admission)
        if call.admission.is_background:
            words, code = "Let the agent read in your kernel?", f"{tool}({what})"
            question = ToolQuestion(tool, words, code, kind="read")
            permit = await call.caller.ask(call.admission, question)
        return await call.caller.run(permit, MainThreadWork(read), READ_LIMIT_S)

    async def _run_code(self, call: Call, given: Arguments) -> ToolResult:
        code, limit_s = str(given["code"]), float(given.get("time_limit", DEFAULT_LIMIT_S))
        if not code.strip():
            raise ToolFailure("The code is empty.")
        if len(code) > MAX_CODE_CHARS:
            raise ToolFailure(
                f"The code has {len(code):,} characters; at most {MAX_CODE_CHARS:,} can be shown "
                "for approval. Send it in parts."
            )
        caller = call.caller
        card = caller.card("run_code", "Run code in this kernel", code)
        outcome = Outcome()

        def run() -> None:
            try:
                run_code(self._shell, code, outcome, origin=caller.label)
            finally:
                remember(self._shell, code, caller.origin)
                publish_below(self._shell, outcome.outputs)

        question = ToolQuestion("run_code", "Run this code in your kernel?", code, card.id)
        permit = await self._allowed(call, question, card)
        return await self._do(caller, permit, card, Job(run, outcome, limit_s))

    async def _call_function(self, call: Call, tool: UserTool, arguments: Arguments) -> ToolResult:
        named = tool.read_arguments(arguments)
        code = f"{tool.name}({', '.join(f'{key}={value!r}' for key, value in named.items())})"
        must_ask = tool.needs_permission or call.admission.is_background
        if must_ask and len(code) > MAX_CODE_CHARS:
            raise ToolFailure("These arguments are too long to be shown for approval.")
        card = call.caller.card(tool.name, f"Call {tool.name}", code[:MAX_CODE_CHARS])
        permit = Permit(call.admission)
        if must_ask:
            question = ToolQuestion(tool.name, f"Call {tool.name}?", code, card.id)
            permit = await self._allowed(call, question, card)
        outcome = Outcome()

        def run() -> None:
            call_function(self._shell, tool, named, outcome)
            publish_below(self._shell, outcome.outputs)

        return await self._do(call.caller, permit, card, Job(run, outcome, tool.limit_s))

    async def _allowed(self, call: Call, question: ToolQuestion, card: ToolCard) -> Permit:
        try:
            return await call.caller.ask(call.admission, question)
        except (asyncio.CancelledError, ToolFailure):
            card.end("cancelled")
            raise

    async def _do(self, caller: Caller, permit: Permit, card: ToolCard, job: Job) -> ToolResult:
        work, outcome = MainThreadWork(job.run), job.outcome
        card.begin(permit.allowed_by)
        try:
            await caller.run(permit, work, job.limit_s)
        except asyncio.CancelledError:
            card.end("cancelled", shown_content(outcome, "The agent called it off."))
            raise
        except (ToolFailure, Stopped) as failure:
            problem = str(failure)
        else:
            problem = f"Stopped: {work.reason}" if outcome.was_stopped else outcome.error
        card.end("failed" if problem else "completed", shown_content(outcome, problem))
        return agent_result(outcome, problem)

    async def _propose_cell(self, call: Call, given: Arguments) -> ToolResult:
        code = str(given["code"])
        if not code.strip() or len(code) > MAX_CODE_CHARS:
            raise ToolFailure(f"A cell has between 1 and {MAX_CODE_CHARS:,} characters.")
        purpose = " ".join(str(given.get("title", "")).split())
        title = f"Proposed a cell: {purpose}" if purpose else "Proposed a cell"
        card = call.caller.card("propose_cell", title, code)
        card.propose(code)
        return text_result(
            "The cell is shown to the user, who may put it into the notebook by `%acp insert`. "
            "It has not been run."
        )


def call_function(shell: Any, tool: UserTool, named: Arguments, outcome: Outcome) -> None:
    """Call a user's function on the main thread and fill in the outcome, as `run_code` does.

    Raises:
        KeyboardInterrupt: The user interrupted the function; a call-off does not raise.
    """
    code = getattr(inspect.unwrap(tool.function), "__code__", None)
    with captured(shell, outcome, getattr(code, "co_filename", "")) as capture:
        value = call_on_kernel_loop(lambda: tool.function(**named))
        outcome.returned = value_words(value)
        if not isinstance(value, _PLAIN):
            capture.show_value(value)
            outcome.value = capture.outputs[-1] if capture.outputs else None

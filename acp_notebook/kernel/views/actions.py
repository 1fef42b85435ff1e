"""The user's actions in a session's views, applied on the agent thread. Knows no view."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from acp_notebook.client.connection import session_calls
from acp_notebook.client.live.elicitation_request import ElicitationRequest
from acp_notebook.client.live.permission_request import PermissionRequest
from acp_notebook.errors import AcpNotebookError
from acp_notebook.session.elicitation import Action, ElicitationId
from acp_notebook.session.state import EntryKey
from acp_notebook.session.updates import Notice, PermissionId, PromptId, ToolCallId

if TYPE_CHECKING:
    from acp_notebook.client.live.live_session import LiveSession


class SessionActions:
    """The actions of one session's views; see `acp_notebook.widgets.turn_view.TurnActions`."""

    def __init__(self, live: LiveSession) -> None:
        self._live = live

    def answer(self, permission_id: PermissionId, option_id: str) -> None:
        """Choose an option of a permission request."""
        question = self._live.questions.get(EntryKey("permission", permission_id))
        if isinstance(question, PermissionRequest):
            question.answer(option_id)

    def fill(self, elicitation_id: ElicitationId, given: dict[str, Any]) -> None:
        """Send the values of a form."""
        question = self._live.questions.get(EntryKey("elicitation", elicitation_id))
        if isinstance(question, ElicitationRequest):
            question.submit(given)

    def reply(self, elicitation_id: ElicitationId, action: Action) -> None:
        """Decline or cancel a form or a url; accept a url that was opened."""
        question = self._live.questions.get(EntryKey("elicitation", elicitation_id))
        if isinstance(question, ElicitationRequest):
            question.reply(action)

    def stop(self) -> None:
        """Cancel the present work; called again, end the process."""
        self._live.stop()

    def withdraw(self, prompt_id: PromptId) -> None:
        """Withdraw a queued prompt."""
        self._live.withdraw(prompt_id)

    def cancel_tool_call(self, tool_call_id: ToolCallId) -> None:
        """Cancel a single tool call; the session shows a refusal."""
        live = self._live

        async def cancel() -> None:
            try:
                await session_calls.cancel_tool_call(live, tool_call_id)
            except AcpNotebookError as error:
                live.apply([Notice("warning", "The tool call was not cancelled", str(error))])

        live.connection.thread.spawn(cancel())

    def set_option(self, option_id: str, value: str, settled: Callable[[], object]) -> None:
        """Set an option such as mode or model; the session shows a refusal."""
        live = self._live

        async def choose() -> None:
            try:
                for option in live.state.config_options:
                    if option.id == option_id:
                        await session_calls.set_option(live, option, value)
            except AcpNotebookError as error:
                live.apply([Notice("warning", "The setting was not changed", str(error))])
            finally:
                settled()

        live.connection.thread.spawn(choose())

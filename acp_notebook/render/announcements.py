"""Sentences about a turn for screen readers: questions, answers, the end. Knows no page."""

from __future__ import annotations

from acp_notebook.render import operations as op
from acp_notebook.render.entries.elicitation import elicitation_words
from acp_notebook.render.labels import answer_words
from acp_notebook.render.markup import label
from acp_notebook.render.operations import Operation
from acp_notebook.session.elicitation import Elicitation
from acp_notebook.session.state import Permission


class Announcements:
    """Collects sentences until they are sent."""

    def __init__(self, agent_name: str) -> None:
        self._agent_name = agent_name
        self._sentences: list[str] = []
        self._has_asked = False

    def operations(self) -> list[Operation]:
        """Return the operation for the sentences since the last call, if there are any."""
        if not self._sentences:
            return []
        operation = op.say(_joined(self._sentences), is_question=self._has_asked)
        self._sentences.clear()
        self._has_asked = False
        return [operation]

    def say(self, text: str) -> None:
        """Add a sentence."""
        self._sentences.append(label(text))

    def permission(self, permission: Permission) -> None:
        """Announce a request for permission, or its answer."""
        title = permission.request.title
        if permission.is_open:
            self._ask(f"{self._agent_name} asks for permission: {title}")
        else:
            self.say(f"{answer_words(permission).text}: {title}")

    def elicitation(self, elicitation: Elicitation) -> None:
        """Announce a form or url, the errors of a form's values, or the answer."""
        message = elicitation.request.message
        if elicitation.errors:
            self.say("; ".join(elicitation.errors.values()))
        elif elicitation.is_open:
            self._ask(f"{self._agent_name} asks: {message}")
        else:
            self.say(f"{elicitation_words(elicitation).text}: {message}")

    def _ask(self, text: str) -> None:
        self.say(text)
        self._has_asked = True


def _joined(sentences: list[str]) -> str:
    *first, last = sentences
    ended = [text if text.endswith((".", "?", "!", "…")) else f"{text}." for text in first]
    return " ".join([*ended, last])

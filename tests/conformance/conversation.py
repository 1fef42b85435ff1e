"""A session with a view on it, as a cell has one, and what must hold of both after any traffic."""

from __future__ import annotations

import contextlib
import json
import logging

from memory_agent import LATER, MemoryAgent
from page_model import PageModel
from watching import Person

import acp_notebook as acp
from acp_notebook.client.connection import agent_connection
from acp_notebook.client.host import current_host, install_host
from acp_notebook.client.live.permission_request import PermissionRequest
from acp_notebook.render.document import TurnDocument
from acp_notebook.render.record import record_bundle

BROKEN = "The agent broke the protocol"


class Log(logging.Handler):
    """Everything that the package logs."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.records = []

    def emit(self, record):
        self.records.append(record)

    @property
    def violations(self):
        """What the agent did wrong, as the log names it."""
        return [r.getMessage() for r in self.records if r.getMessage().startswith(BROKEN)]

    @property
    def failures(self):
        """Where this package itself failed."""
        return [r.getMessage() for r in self.records if r.levelno >= logging.ERROR]


class Stage:
    """A client and its agent, on which one conversation follows another."""

    def __init__(self, version, folder):
        self.agent = MemoryAgent(version)
        self.log = Log()
        self._names = iter(range(10**9))
        self.agent.answers["session/new"] = lambda _: {
            "sessionId": f"session-{next(self._names)}",
            **self.agent.set_up(),
        }
        self.agent.answers["session/prompt"] = lambda _: LATER if version == 1 else {}
        self.client = acp.start(
            command=["memory"], label="memory", cwd=folder, serve=("read", "write", "terminal")
        )

    def begin(self):
        """A new session with a prompt at work."""
        self.client.new_session()
        while len(self.client.sessions) > 1:  # what is shared must not grow
            old = self.client.sessions.pop(0)
            self.client.thread.call(
                lambda old=old: self.client.connection.routes.forget(old.live.session_id)
            )
        self.agent.heard.clear()
        self.agent.asked.clear()
        self.agent.prompts.clear()
        self.log.records.clear()
        return Conversation(self)


@contextlib.contextmanager
def stage(version, folder):
    """A stage in a surrounding in which somebody can be asked."""
    real, before = agent_connection.open_endpoint, current_host()
    logger = logging.getLogger("acp_notebook")
    install_host(Person())
    staged = Stage.__new__(Stage)

    async def open_endpoint(launch):
        return await staged.agent.open(launch)

    agent_connection.open_endpoint = open_endpoint
    try:
        staged.__init__(version, folder)
        logger.addHandler(staged.log)
        yield staged
    finally:
        logger.removeHandler(staged.log)
        staged.client.quit()
        agent_connection.open_endpoint = real
        install_host(before)


class Conversation:
    """One session: what the agent sends, and what its page and its record then say."""

    def __init__(self, stage):
        self._stage = stage
        self._agent = stage.agent
        self._session = stage.client.session
        self._live = self._session.live
        self.id = self._session.id
        self.page = PageModel()
        self._thread = stage.client.thread
        self._before = len(self._violations_elsewhere())
        self._turn = self._session.prompt("begin", wait=False)
        self._agent.until_heard("session/prompt")
        self._document = TurnDocument(self._live.state, agent_name="memory")
        self._thread.call(lambda: self._live.subscribe(self._changed))

    @property
    def state(self):
        return self._live.state

    def _changed(self, changes):
        self._document.note(changes)
        self.page.obey(as_sent(self._document.ops()))
        while self._document.is_behind:
            self.page.obey(as_sent(self._document.ops()))

    def tell(self, update):
        self._agent.tell(update, self.id)

    def say(self, words, message_id="said"):
        """A good chunk of the agent's reply."""
        text = {"type": "text", "text": words}
        self.tell(
            {"sessionUpdate": "agent_message_chunk", "messageId": message_id, "content": text}
        )

    def ask(self, method, params):
        return self._agent.begin(method, params)

    def close_questions(self):
        """Answer what is still open, as a person would."""
        self._thread.call(self._answer_all)

    def _answer_all(self):
        for live in self._session.agent.connection.routes.sessions:
            for question in list(live.questions.values()):
                if isinstance(question, PermissionRequest):
                    question.answer(question.options[0].option_id)
                else:
                    question.decline()

    @property
    def violations(self):
        """Everything that is known, in whichever session, of what the agent did wrong."""
        return [*self.state.violations, *self._violations_elsewhere()[self._before :]]

    def _violations_elsewhere(self):
        others = [
            live
            for live in self._session.agent.connection.routes.sessions
            if live is not self._live
        ]
        return [violation for live in others for violation in live.state.violations]

    def check(self):
        """Fail unless all is as it must be after any traffic; what can be read of the record."""
        self._agent.settle()
        self.close_questions()
        for request_id in self._agent.asked:
            self._agent.until(lambda request_id=request_id: self._agent._waiting.get(request_id))
        self._agent.settle()
        counts = {i: len(self._agent.answers_to(i)) for i in self._agent.asked}
        assert set(counts.values()) <= {1}, counts
        assert self._stage.log.failures == []
        assert len(self._stage.log.violations) == len(self.violations)
        return self._thread.call(self._check_views)

    def _check_views(self):
        fresh = PageModel().obey(as_sent(self._document.snapshot()))
        assert fresh.html == self.page.html
        self._document.finish("end_turn")
        self.page.obey(as_sent(self._document.ops()))
        bundle = record_bundle(
            self.state, self.state.timeline, agent_name="memory", stop_reason="end_turn"
        )
        return as_sent(bundle)


def as_sent(value):
    """The value after the way to the page or into the notebook's file."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    return json.loads(text)

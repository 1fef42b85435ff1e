"""What the client tests watch with: bounded waits on the session, the wire and the processes.

No test sleeps. A wait on a session hears of each change from the session itself; the system does
not tell when a process that is not ours ends, so that alone is asked for again and again.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import json
import os
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import psutil
import pytest

from acp_notebook import Agent, Session
from acp_notebook.client.host import Host
from acp_notebook.client.live.audience import Audience
from acp_notebook.client.live.live_session import Subscription
from acp_notebook.client.live.question import Question
from acp_notebook.errors import UsageError
from acp_notebook.session.state import SessionState

BOUND_S = 30.0
needs_node = pytest.mark.usefixtures("official_sdk")
only_linux = pytest.mark.skipif(
    sys.platform != "linux",
    reason="elsewhere nothing adopts a process that left the session and lost its parent",
)
AGENTS = Path(__file__).parent.parent / "agents"
NODE_AGENT = ("node", str(AGENTS / "sdk_agent.mjs"))
PYTHON_AGENT = (sys.executable, str(AGENTS / "sdk_agent.py"))


def bad(*words: str) -> list[str]:
    """The command of an agent of tests/agents/bad_agent.py."""
    return [sys.executable, str(AGENTS / "bad_agent.py"), *words]


def story(*words: str) -> list[str]:
    """The command of an agent of story_agent.py."""
    return [sys.executable, str(Path(__file__).parent / "story_agent.py"), *words]


def until(session: Session, seen: Callable[[SessionState], object]) -> None:
    """Wait until this holds of the session's state; it is asked at each change."""
    live, thread = session.live, session.agent.thread
    found: concurrent.futures.Future[None] = concurrent.futures.Future()

    def look(_: object = None) -> None:
        if not found.done() and seen(live.state):
            found.set_result(None)

    def begin() -> Subscription:
        look()
        return live.subscribe(look)

    subscription = thread.call(begin)
    try:
        found.result(BOUND_S)
    finally:
        thread.call(subscription.close)


def until_text(session: Session, words: str) -> None:
    """Wait until a message of the session has these words."""
    until(session, lambda state: any(words in m.text for m in state.messages.values()))


def until_asked(session: Session, count: int = 1) -> list[str]:
    """Wait until so many permission requests are open; their ids, oldest first."""
    until(session, lambda state: len(state.open_permissions) >= count)
    return session.agent.thread.call(
        lambda: [p.request.permission_id for p in session.live.state.open_permissions]
    )


def answer(session: Session, permission_id: str, option_id: str) -> None:
    """Click a button; one that is too late, or was never there, changes nothing."""
    for question in session.questions:
        if question.key.id == permission_id:
            with contextlib.suppress(UsageError):
                question.answer(option_id)


# the wire


def frames(agent: Agent, direction: str) -> list[Any]:
    """The messages of one direction on the present connection, batches taken apart."""
    found: list[Any] = []
    for frame in agent.recording.frames():
        if frame.direction == direction:
            message = frame.message
            found += message if isinstance(message, list) else [message]
    return found


def sent(session: Session, method: str) -> list[Any]:
    """The params of what the client sent to this session under this method."""
    return [
        message["params"]
        for message in frames(session.agent, "sent")
        if message.get("method") == method and message["params"].get("sessionId") == session.id
    ]


def permission_answers(session: Session) -> list[list[Any]]:
    """For each permission request of the session, every answer the client sent to it."""
    asked = [
        message["id"]
        for message in frames(session.agent, "received")
        if isinstance(message, dict)
        and message.get("method") == "session/request_permission"
        and message["params"].get("sessionId") == session.id
    ]
    replies = [message for message in frames(session.agent, "sent") if "method" not in message]
    return [
        [reply.get("result", reply.get("error")) for reply in replies if reply["id"] == request]
        for request in asked
    ]


# processes


def is_gone(pid: int) -> bool:
    """Whether no such process runs; one that nobody has collected yet does not run."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def members(session_id: int) -> set[int]:
    """The living processes of a process session."""
    found = set()
    for pid in psutil.pids():
        try:
            if os.getsid(pid) == session_id and not is_gone(pid):
                found.add(pid)
        except OSError:
            continue
    return found


def poll(holds: Callable[[], object]) -> bool:
    """Ask the system again and again, within the bound."""
    pause = threading.Event()
    for _ in range(int(BOUND_S / 0.02)):
        if holds():
            return True
        pause.wait(0.02)
    return False


def all_gone(pids: Iterable[int]) -> bool:
    """Whether all these processes end, and what is in their process sessions with them."""
    return all(poll(lambda pid=pid: is_gone(pid) and not members(pid)) for pid in pids)


def children() -> set[int]:
    """The processes below this one: agents, their guards, and what agents started."""
    return {process.pid for process in psutil.Process().children(recursive=True)}


def text_of(message: Any) -> str:
    """A frame as text, to look for words in it."""
    return json.dumps(message)


class Person(Host):
    """A host with somebody in front of it, who answers when the test says so."""

    def audience(self, agent: Agent) -> Audience:
        return Somebody()


class Somebody:
    """An audience that is asked, and counts how often."""

    can_ask = True

    def __init__(self) -> None:
        self.asked: list[Question] = []

    def ask(self, question: Question) -> None:
        self.asked.append(question)


class Impatient(Host):
    """A host on which the n-th wait is interrupted once the test allows it."""

    def __init__(self, *interrupt_when: Callable[[], object]) -> None:
        self._moments = list(interrupt_when)
        self.waits = 0

    def wait(self, future: concurrent.futures.Future[Any], timeout_s: float | None) -> bool:
        self.waits += 1
        if self._moments:
            self._moments.pop(0)()
            raise KeyboardInterrupt
        return super().wait(future, timeout_s)

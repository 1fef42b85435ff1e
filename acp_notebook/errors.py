"""The exception tree, and ACP's error codes. Knows no protocol and no notebook.

    AcpNotebookError
    ├── AgentError                      the agent's side
    │   ├── AgentNotFound               no such agent or command
    │   ├── AgentExited                 the agent's process ended: exit status and stderr tail
    │   ├── RequestFailed               a JSON-RPC error answer: code, message, data
    │   │   └── AuthRequired            code -32000
    │   └── UnsupportedProtocolVersion  no version in common
    ├── UnsupportedByAgent              a capability that the agent did not offer
    ├── TurnTimeout                     a wait ended before the turn; also a TimeoutError
    ├── TurnStopped                     `raise_for_stop` found another end than `end_turn`
    └── UsageError                      the caller's mistake; the message says how to fix it

Every message says what happened and what to do next. Cancelling is not an error: it is the
stop reason `cancelled`.
"""

from __future__ import annotations

import difflib
import errno
import re
from collections.abc import Iterable
from typing import Any, Final

from acp_notebook.characters import mark_name

# ACP's own error codes; those of JSON-RPC are in `jsonrpc`.
AUTH_REQUIRED_CODE: Final = -32000
NOT_FOUND_CODE: Final = -32002
UNSUPPORTED_VERSION_CODE: Final = -32022

_ESCAPES: Final = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, cursor movements
    r"|\x1b[\]P^_X][^\x07\x1b]*(?:\x07|\x1b\\)"  # titles, links, commands to the terminal
    r"|\x1b[ -/]*[0-Z\\^-~]"
)
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return a question with the known name that is most like `name`; empty if none is."""
    close = difflib.get_close_matches(name, list(known), 1)
    return f" Did you mean {close[0]!r}?" if close else ""


def printable(text: str) -> str:
    """Return text without escape sequences and control characters, safe for a terminal.

    Characters that hide or mislead are marked, since an agent's names stand in messages.
    """
    if text.isascii() and text.isprintable():
        return text
    plain = _CONTROLS.sub("\ufffd", _ESCAPES.sub("", text.replace("\r\n", "\n")))
    return mark_name(plain)


class AcpNotebookError(Exception):
    """The base class of all exceptions that this package raises deliberately."""

    def __str__(self) -> str:
        return printable(super().__str__())

    def _render_traceback_(self) -> list[str]:
        # IPython calls this. The message says what to do; a traceback would only hide it.
        return [f"{type(self).__name__}: {self}"]


class AgentError(AcpNotebookError):
    """The agent's side failed."""


class AgentNotFound(AgentError):
    """No agent of this name, or its command cannot be started."""


class AgentExited(AgentError):
    """The agent's process ended.

    Args:
        message: What happened and the next step.
        status: How the process ended: `exit code 3` or `signal SIGKILL`.
        stderr_tail: The end of the agent's stderr.
    """

    def __init__(self, message: str, *, status: str = "", stderr_tail: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.stderr_tail = stderr_tail

    def __str__(self) -> str:
        tail = self.stderr_tail.strip()
        indented = "\n".join(f"  {line}" for line in tail.splitlines()[-8:])
        words = f"{self.args[0]}\nIts last words on stderr:\n{indented}" if tail else self.args[0]
        return printable(words)


class RequestFailed(AgentError):
    """The agent answered a request with an error.

    Args:
        method: The method of the request.
        code: The JSON-RPC or ACP error code.
        message: The agent's message.
        data: The agent's `data`, any JSON.
    """

    def __init__(self, method: str, code: int, message: str, data: Any = None) -> None:
        super().__init__(method, code, message, data)
        self.method = method
        self.code = code
        self.message = message
        self.data = data

    def __str__(self) -> str:
        reason = describe_error(self.code, self.message, self.data)
        words = f"{self.method} failed: {reason}. See what the agent printed: %acp log"
        return printable(words)


class AuthRequired(RequestFailed):
    """The agent requires a login first (error -32000)."""


class UnsupportedProtocolVersion(AgentError):
    """The agent and this client share no protocol version."""


class UnsupportedByAgent(AcpNotebookError):
    """The agent does not have a capability that the call needs."""


class TurnStopped(AcpNotebookError):
    """A turn ended with another stop reason than `end_turn`; raised by `raise_for_stop`."""


class TurnTimeout(AcpNotebookError, TimeoutError):
    """A wait ended before the turn; the turn goes on."""


class UsageError(AcpNotebookError):
    """The caller's mistake; the message says how to fix it."""


def out_of_files(error: BaseException) -> AgentError | None:
    """Return a clear error for a reached limit of open files; None for any other error."""
    if not isinstance(error, OSError) or error.errno not in {errno.EMFILE, errno.ENFILE}:
        return None
    whose = "This process has" if error.errno == errno.EMFILE else "This machine has"
    return AgentError(
        f"{whose} as many files open as it may ({error.strerror}). End agents that are not needed "
        "(%acp quit LABEL), close files, or start Jupyter with a higher limit: ulimit -n 4096"
    )


def describe_error(code: int, message: str, data: Any = None) -> str:
    """Return one readable sentence for a JSON-RPC error.

    Agents put the cause into `data` in many forms: a string, or an object with `details`,
    `message`, `error` or `reason`.
    """
    detail = _readable(data)
    text = message.strip() or "no message"
    if detail and detail not in text:
        text = f"{text}: {detail}"
    return printable(f"{text} (code {code})")


def _readable(data: Any) -> str:
    if isinstance(data, str):
        return data.strip()
    if isinstance(data, dict):
        for key in ("details", "detail", "message", "error", "reason"):
            found = _readable(data.get(key))
            if found:
                return found
    return ""

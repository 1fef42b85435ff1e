"""The process between the kernel and an agent, which ends all of the agent with the kernel.

A killed kernel cannot clean up, and some agents do not end when their stdin closes. So the kernel
starts this guard as a script, and the guard starts the agent, in a process session of its own; a
terminal as stdin becomes the agent's own. The agent's pipes lead past the guard. Over a socket the
guard hears what to start, and tells the agent's process id and later its exit code. The guard ends
once nothing of the agent is left.

The kernel has died when the guard's parent is another process, or when the socket is at its end,
whichever shows first: a fork of the kernel inherits the kernel's end of the socket, as it inherits
the agent's stdin, and keeps both open. Then the guard ends the whole tree in stages.

On Linux the guard is the subreaper of the agent: each process below the agent whose parent has
ended becomes a child of the guard, even a daemon in a session of its own, so that none is lost.
Should the guard be killed, the system kills the agent. Other systems have neither: there the tree
is the agent's process session, and a descendant that left the session outlives a killed kernel.

Imports little, for it is started before each agent: no contextlib, no typing. Knows no agent.
"""

# ruff: noqa: PTH112, PTH123, PTH208, SIM105

from __future__ import annotations

import marshal
import os
import select
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn, TypeAlias

    Job: TypeAlias = tuple[bytes, bytes, list[bytes], dict[bytes, bytes]]
    """What to start: folder, program, all words of the command, environment."""

GRACE_S = 2.0
KILL_S = 10.0
# How soon a dead kernel is noticed whose end of the socket a fork keeps open.
PERIOD_S = 0.5
ROUND_S = 0.05

_HAS_PROC = sys.platform == "linux" and os.path.isdir("/proc/self")
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def session_members(session_id: int) -> list[int]:
    """Return the process ids of a session, from Linux's process table."""
    return [pid for pid in _all_pids() if _session_of(pid) == session_id]


def signal_session(session_id: int, number: int) -> None:
    """Send a signal to the session's process group, and on Linux to members outside the group."""
    _signal(os.killpg, session_id, number)
    if _HAS_PROC:
        for pid in session_members(session_id):
            _signal(os.kill, pid, number)


def descendants(pid: int) -> list[int]:
    """Return the process ids below a process, from Linux's process table."""
    children: dict[int, list[int]] = {}
    for each in _all_pids():
        children.setdefault(_parent_of(each), []).append(each)
    found = children.get(pid, [])
    for each in found:
        found += children.get(each, ())
    return found


def _all_pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _session_of(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:
        return 0


def _parent_of(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            # The program's name is in brackets and may hold anything.
            return int(stat.read().rpartition(b")")[2].split()[1])
    except OSError:
        return 0


def _signal(send: Callable[[int, int], None], to: int, number: int) -> bool:
    """Send a signal; return whether there was somebody to send it to."""
    try:
        send(to, number)
    except OSError:
        return False
    return True


class Tree:
    """A child of this process with all its descendants.

    Attributes:
        pid: The child's process id, which is also the id of its session.
        code: The child's exit code, or the negative number of a signal; None while it runs.
    """

    def __init__(self, job: Job) -> None:
        self.code: int | None = None
        self._has_children = self._has_session = True
        self._adopts = _prctl(_PR_SET_CHILD_SUBREAPER, 1)
        self._woken, wake = os.pipe()
        for end in (self._woken, wake):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self.pid = _launch(job)

    @property
    def is_over(self) -> bool:
        """Whether nothing of the tree is left."""
        return not self._has_children and not self._has_session

    def wait(self, seconds: float, *others: int) -> bool:
        """Wait for the end of any process, or for input; return whether there is input."""
        ready = select.select([self._woken, *others], [], [], seconds)[0]
        if self._woken in ready:
            os.read(self._woken, 4096)
        self._reap()
        return any(other in ready for other in others)

    def _reap(self) -> None:
        try:
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == self.pid:
                    self.code = os.waitstatus_to_exitcode(ended[1])
        except ChildProcessError:
            self._has_children = False
        # A session that was empty once is never looked for again: its id may be another's.
        if self._adopts or not (self._has_session and _signal(os.killpg, self.pid, 0)):
            self._has_session = False

    def signal(self, number: int) -> None:
        """Send a signal to every process of the tree."""
        if self._adopts:
            for pid in descendants(os.getpid()):
                _signal(os.kill, pid, number)
        elif self._has_session:
            signal_session(self.pid, number)

    def end(self) -> None:
        """End all processes in stages: by themselves, terminated, killed."""
        # The agent's stdin may have closed too, and then it is about to end.
        self._ends_within(GRACE_S)
        self.signal(signal.SIGTERM)
        self._ends_within(GRACE_S)
        for _ in range(int(KILL_S / ROUND_S)):
            if self.is_over:
                return
            self.signal(signal.SIGKILL)
            self.wait(ROUND_S)

    def _ends_within(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while not self.is_over and (left := end - time.monotonic()) > 0:
            self.wait(min(left, PERIOD_S))


def _prctl(option: int, value: int) -> bool:
    """Set an attribute of this process; return False where the system has no such attribute."""
    if not _HAS_PROC:
        return False
    try:
        import ctypes

        return bool(ctypes.CDLL(None).prctl(option, value, 0, 0, 0) == 0)
    except (ImportError, OSError, AttributeError):
        return False


def _launch(job: Job) -> int:
    """Start the job in a session of its own; raises OSError or ValueError if it cannot start."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        _become(job, writing)
    os.close(writing)
    with open(reading, "rb") as failure:
        words = failure.read()
    if words:
        os.waitpid(pid, 0)
        number, _, reason = words.decode(errors="replace").partition(" ")
        raise OSError(int(number), reason)
    return pid


def _become(job: Job, failure: int) -> NoReturn:
    folder, program, words, environment = job
    try:
        if os.isatty(0):
            os.login_tty(0)
        else:
            os.setsid()
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        # Python ignores these, and a program would go on ignoring them.
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        os.chdir(folder)
        os.execve(program, words, environment)  # noqa: S606
    except OSError as error:
        os.write(failure, f"{error.errno} {error.strerror}".encode())
    except ValueError as error:
        os.write(failure, f"0 {error}".encode())
    finally:
        os._exit(127)


def _let_go_of_pipes() -> None:
    # The agent alone holds them, so that each end sees what the other one closes.
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nothing, number)
    os.chdir("/")


def main() -> None:
    """Start what the socket says, report on it, and end it when the kernel is gone."""
    given, kernel = int(sys.argv[1]), int(sys.argv[2])
    # `select` takes small numbers only, and the agent must not inherit the socket.
    socket = os.dup(given)
    os.close(given)

    def tell(words: str) -> None:
        try:
            os.write(socket, words.encode(errors="replace"))
        except OSError:
            pass  # nobody listens any more

    try:
        with open(socket, "rb", closefd=False) as stream:
            tree = Tree(marshal.load(stream))  # noqa: S302 - from this package, and no import
    except EOFError:
        return  # the kernel has died
    except (OSError, ValueError) as error:
        tell(f"failed {getattr(error, 'errno', 0)} {getattr(error, 'strerror', error)}\n")
        return
    tell(f"started {tree.pid}\n")
    _let_go_of_pipes()
    is_told = False
    while not tree.is_over:
        is_orphaned = tree.wait(PERIOD_S, socket) or os.getppid() != kernel
        if tree.code is not None and not is_told:
            tell(f"ended {tree.code}\n")
            is_told = True
        if is_orphaned:
            tree.end()
            return


if __name__ == "__main__":
    main()

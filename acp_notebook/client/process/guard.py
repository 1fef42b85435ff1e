"""A tiny process that ends an agent's process session when the kernel is killed.

A killed kernel cannot clean up, and some agents do not end when their stdin closes. Run as a script
with the session's id, the guard reads its stdin: a byte dismisses it, end of file means the kernel
has died. Imports little, since one guard runs beside each agent. Knows no agent.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time

GRACE_S = 2.0


def session_members(session_id: int) -> list[int]:
    """Return the process ids of a session, from Linux's process table."""
    found = []
    for name in os.listdir("/proc"):  # noqa: PTH208 - pathlib is a heavy import here
        if name.isdigit():
            with contextlib.suppress(OSError):
                if os.getsid(int(name)) == session_id:
                    found.append(int(name))
    return found


def signal_session(session_id: int, number: int) -> None:
    """Send a signal to the session's process group, and on Linux to members outside the group."""
    with contextlib.suppress(OSError):
        os.killpg(session_id, number)
    if os.path.isdir("/proc/self"):  # noqa: PTH112 - as above
        for pid in session_members(session_id):
            with contextlib.suppress(OSError):
                os.kill(pid, number)


def main() -> None:
    """Wait for dismissal; at the end of file, terminate and then kill the session."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if os.read(0, 1):
        return
    session_id = int(sys.argv[1])
    # The agent's stdin has closed too, so it may be about to end.
    time.sleep(GRACE_S)
    signal_session(session_id, signal.SIGTERM)
    time.sleep(GRACE_S)
    signal_session(session_id, signal.SIGKILL)


if __name__ == "__main__":
    main()

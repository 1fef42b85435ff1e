"""A tiny process that ends an agent's process session when this process dies without a word.

A kernel that is killed cannot clean up, and some agents do not end when their stdin closes. Run as
a script with the session's id; it waits for its own stdin: a byte means all is well, end of file
means the parent is gone. Knows nothing else, and imports little, since it lives beside each agent.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time

GRACE_S = 2.0


def session_members(session_id: int) -> list[int]:
    """Processes of a session, as far as the system tells (Linux's process table)."""
    found = []
    for name in os.listdir("/proc"):  # noqa: PTH208 - pathlib is a heavy import here
        if name.isdigit():
            try:
                if os.getsid(int(name)) == session_id:
                    found.append(int(name))
            except OSError:
                continue
    return found


def signal_session(session_id: int, number: int) -> None:
    """Send a signal to the session's group, and to members that left the group."""
    with contextlib.suppress(OSError):
        os.killpg(session_id, number)
    if os.path.isdir("/proc/self"):  # noqa: PTH112 - as above
        for pid in session_members(session_id):
            try:
                os.kill(pid, number)
            except OSError:
                continue


def main() -> None:
    """Wait for the word or the end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if os.read(0, 1):
        return
    session_id = int(sys.argv[1])
    # The agent's stdin closed too: it may end by itself.
    time.sleep(GRACE_S)
    signal_session(session_id, signal.SIGTERM)
    time.sleep(GRACE_S)
    signal_session(session_id, signal.SIGKILL)


if __name__ == "__main__":
    main()

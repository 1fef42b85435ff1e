"""The interrupt of a wait, told in one line. Knows nothing of what was waited for."""

from __future__ import annotations


class WaitInterrupted(KeyboardInterrupt):
    """An interrupt of a wait. Queued cells do not run."""

    def _render_traceback_(self) -> list[str]:
        # IPython calls this: one line instead of a traceback through our own code.
        return [str(self)]

"""Outputs that a turn's view cannot hold go below it, as any cell's outputs do.

The view shows text and images. A table in HTML, a plot with its own script, a widget: the notebook
has renderers for these. Knows the pump only to see whether a cell waits.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from acp_notebook.kernel.tools.descriptions import belongs_below
from acp_notebook.kernel.tools.running.captured_output import Output, Shown
from acp_notebook.kernel.waiting.pump import Pump

MAX_PUBLISHED: Final = 10


def publish_below(shell: Any, outputs: Iterable[Output]) -> None:
    """Publish in the cell that waits; on the main thread.

    Without a cell that waits (a turn in the background, a terminal) there is no place below.
    """
    pump = Pump.current
    if pump is None or pump.cell is None:
        return
    below = [output for output in outputs if isinstance(output, Shown) and belongs_below(output)]
    for shown in below[:MAX_PUBLISHED]:
        transient = {"display_id": shown.display_id} if shown.display_id else {}
        shell.display_pub.publish(
            data=dict(shown.data), metadata=dict(shown.metadata), transient=transient
        )

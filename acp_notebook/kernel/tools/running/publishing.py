"""Publishing outputs below a turn's view, as outputs of the cell.

The view shows text and images. HTML tables, plots with scripts and widgets need the notebook's own
renderers. Knows of the pump only whether a cell waits.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from acp_notebook.kernel.tools.descriptions import belongs_below
from acp_notebook.kernel.tools.running.captured_output import Output, Shown
from acp_notebook.kernel.waiting.pump import Pump

MAX_PUBLISHED: Final = 10


def publish_below(shell: Any, outputs: Iterable[Output]) -> None:
    """Publish outputs in the waiting cell, on the main thread; do nothing if no cell waits."""
    pump = Pump.current
    if pump is None or pump.cell is None:
        return
    below = [output for output in outputs if isinstance(output, Shown) and belongs_below(output)]
    for shown in below[:MAX_PUBLISHED]:
        transient = {"display_id": shown.display_id} if shown.display_id else {}
        shell.display_pub.publish(
            data=dict(shown.data), metadata=dict(shown.metadata), transient=transient
        )

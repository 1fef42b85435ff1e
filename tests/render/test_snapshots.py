"""The three forms of a record, whole, against files that were looked at.

After a change that is meant: `UPDATE_SNAPSHOTS=1 pytest tests/render/test_snapshots.py`, and look
at the difference.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from turns import turn_with_everything

from acp_notebook.render.record import record_bundle
from acp_notebook.session import updates as u
from acp_notebook.session.content import TextBlock
from acp_notebook.session.reducer import apply
from acp_notebook.session.state import SessionState
from acp_notebook.session.timings import Timings

SNAPSHOTS = Path(__file__).parent / "snapshots"
ANSWER = """## The answer

It is $x^2$ for **$5**:[^1]

| a | b |
| --- | ---: |
| 1 | 2 |

```python
x = 1
```

[^1]: More or less.
"""


def everything() -> dict[str, str]:
    """The record of a turn with every kind of entry."""
    state, timings = SessionState(), Timings()
    answer = u.MessageChunk("agent", u.MessageId("answer"), TextBlock(ANSWER))
    for second, update in enumerate([*turn_with_everything(), answer]):
        timings.note(state, apply(state, update), second)
    timings.end_thought(100)
    return record_bundle(
        state,
        state.timeline,
        agent_name="demo",
        stop_reason="error",
        failure=u.Failure("overloaded", -32603, {"retryAfter": 30}),
        elapsed_s=65.4,
        timings=timings,
    )


@pytest.mark.parametrize("form", ["html", "markdown", "plain"])
def test_the_record_is_as_it_was_looked_at(form: str) -> None:
    text = everything()[f"text/{form}"].replace("><", ">\n<") + "\n"
    path = SNAPSHOTS / f"record.{form}"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        SNAPSHOTS.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")

"""What only a kernel has: displays that pass a hook, figures shown inline, cells put below."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from kernelspecs import KernelUnderTest

LOOK = (
    "from acp_notebook.kernel.context.sources import cell_item\n"
    "def look(count):\n"
    "    log = get_ipython().magics_manager.registry['AcpMagics'].state.log\n"
    "    item = cell_item(log, count)\n"
    "    kinds = [picture.data[:4] for picture in item.pictures]\n"
    "    print(kinds, item.text.split('Output:')[1:])"
)


@pytest.fixture(scope="module")
def loaded(kernel: KernelUnderTest) -> KernelUnderTest:
    kernel.run(f"%load_ext acp_notebook\n{LOOK}")
    return kernel


def count_of(kernel: KernelUnderTest, source: str) -> int:
    """Runs a cell and tells its number."""
    msg_id = kernel.send(source)
    kernel.until_idle([msg_id])
    return kernel.reply(msg_id)["content"]["execution_count"]


def test_a_figure_shown_inline_is_a_picture_of_its_cell(loaded: KernelUnderTest):
    plot = "import matplotlib.pyplot as plt\nplt.plot([1, 2]);"
    count_of(loaded, "%matplotlib inline")
    for source in (plot, f"{plot}\nplt.show()"):
        count = count_of(loaded, source)
        assert loaded.run(f"look({count})").startswith(r"[b'\x89PNG'] [' a picture")


def test_displays_updates_and_values_are_outputs_of_their_cell(loaded: KernelUnderTest):
    count = count_of(
        loaded,
        "from IPython.display import Markdown, display\n"
        "handle = display(Markdown('*first*'), display_id=True)\n"
        "handle.update(Markdown('*second*'))\n40 + 2",
    )
    told = loaded.run(f"look({count})")
    assert "*second*" in told
    assert "*first*" not in told
    assert "42" in told


def test_a_failed_cell_is_the_last_error(loaded: KernelUnderTest):
    count = count_of(loaded, "values = []\nvalues[3]")
    told = loaded.run(
        "error = get_ipython().magics_manager.registry['AcpMagics'].state.log.last_error\n"
        "print(error.count, error.name, error.traceback)"
    )
    assert told.startswith(f"{count} IndexError Traceback")
    assert f"Cell In[{count}], line 2" in told
    assert "\x1b" not in told


def test_insert_puts_the_code_into_a_cell_below(loaded: KernelUnderTest):
    loaded.run(
        "from acp_notebook.kernel.magic.turn_cache import RecordedTurn\n"
        "turn = RecordedTurn('```python\\nx = 1\\n```', 'end_turn', 'demo', 'today', {})"
    )
    msg_id = loaded.send("%acp insert --turn turn")
    loaded.until_idle([msg_id])
    (payload,) = loaded.reply(msg_id)["content"]["payload"]
    assert payload == {"source": "set_next_input", "text": "x = 1", "replace": False}
    assert "nothing was run" in loaded.record.text[msg_id]


def test_unloading_takes_the_hook_back(loaded: KernelUnderTest):
    hooks = "print(len(get_ipython().display_pub._hooks))"
    before = int(loaded.run(hooks))
    loaded.run("%unload_ext acp_notebook")
    assert int(loaded.run(hooks)) == before - 1

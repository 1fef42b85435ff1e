"""The state of the magics: agents, executed cells, recorded turns, the last turn.

Runs no subcommand. Heavy modules are imported at first use.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from IPython.core.interactiveshell import InteractiveShell

from acp_notebook.errors import printable
from acp_notebook.kernel.context.cell_log import CellLog
from acp_notebook.kernel.magic.roster import Roster

if TYPE_CHECKING:
    from acp_notebook.client.session import AnyTurn
    from acp_notebook.kernel.context.sources import Notebook
    from acp_notebook.kernel.magic.turn_cache import TurnCache


class MagicState:
    """The state that every subcommand gets."""

    def __init__(self, shell: InteractiveShell) -> None:
        self.shell = shell
        self.roster = Roster()
        self.log = CellLog(shell)
        self._last_turn: Callable[[], AnyTurn | None] = lambda: None
        self._has_prompted = False
        self.local: Mapping[str, Any] = {}
        """The local variables of a prompting function; empty at top level."""
        self.default_agent = ""
        self.default_permissions = ""

    @property
    def last_turn(self) -> AnyTurn | None:
        """The turn that a magic prompted or showed last; of an agent that has quit, its reply."""
        from acp_notebook.client.session import last_turn

        turn = self._last_turn()
        return last_turn() if turn is None and self._has_prompted else turn

    @last_turn.setter
    def last_turn(self, turn: AnyTurn) -> None:
        self._has_prompted = True
        self._last_turn = weakref.ref(turn)  # its session holds it, or `acp_notebook.last`

    @cached_property
    def cache(self) -> TurnCache:
        """The recorded turns."""
        from acp_notebook.kernel.magic.turn_cache import TurnCache

        return TurnCache()

    @property
    def notebook(self) -> Notebook:
        """The sources of mentions in a prompt."""
        from acp_notebook.kernel.context.sources import Notebook

        return Notebook(self.shell, self.log, self.local)

    @property
    def variables(self) -> dict[str, Any]:
        """The user's namespace."""
        namespace: dict[str, Any] = self.shell.user_ns
        return namespace

    def policy(self, name: str) -> Any:
        """Return the user's function of this name, or the name, as a policy."""
        function = self.variables.get(name)
        return function if callable(function) else name

    def print(self, text: str) -> None:
        """Write a subcommand's report to the cell's stdout."""
        print(printable(text))  # noqa: T201 - the purpose

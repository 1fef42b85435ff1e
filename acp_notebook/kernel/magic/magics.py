"""`%acp` and `%%acp`: read the line and run its subcommand. Know no agent."""

from __future__ import annotations

from typing import Any

from IPython.core.error import UsageError as IPythonUsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import (
    Magics,
    line_cell_magic,
    magics_class,
    needs_local_scope,
    no_var_expand,
)
from traitlets import Unicode

from acp_notebook.client.live.policy_names import POLICY_NAMES
from acp_notebook.errors import UsageError, out_of_files
from acp_notebook.kernel.magic.commands.inspection import status
from acp_notebook.kernel.magic.commands.prompts import CELL
from acp_notebook.kernel.magic.state import MagicState
from acp_notebook.kernel.magic.subcommands import find_subcommand


@magics_class
class AcpMagics(Magics):
    """The magics and their configuration."""

    agent = Unicode(
        "", help="The agent to start when a prompt comes and none is running, such as demo."
    ).tag(config=True)
    permissions = Unicode(
        "ask", help=f"The permission policy of new agents: one of {POLICY_NAMES}."
    ).tag(config=True)

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        self.state = MagicState(shell)

    @no_var_expand
    @needs_local_scope
    @line_cell_magic
    def acp(
        self, line: str, cell: str | None = None, local_ns: dict[str, Any] | None = None
    ) -> None:
        """Talk to ACP agents: `%acp help` shows what there is."""
        is_at_top = local_ns is None or local_ns is self.state.variables
        self.state.local = {} if is_at_top or local_ns is None else local_ns
        self.state.default_agent = self.agent
        self.state.default_permissions = self.permissions
        try:
            if cell is not None:
                given = CELL.parse(line)
                given.text = f"{given.text}\n{cell}" if given.text else cell
                CELL.run(self.state, given)
            else:
                self._run(line)
        except UsageError as error:
            raise IPythonUsageError(str(error)) from None
        except OSError as error:
            raise out_of_files(error) or error from None

    def _run(self, line: str) -> None:
        name, _, rest = line.strip().partition(" ")
        if not name:
            status(self.state)
            return
        subcommand = find_subcommand(name, advice=" %acp help shows what there is.")
        if subcommand.takes_variables and ("{" in rest or "$" in rest):
            from acp_notebook.kernel.context.prompt_text import fill_line

            rest = fill_line(rest, self.state.notebook.namespace)
        subcommand.run(self.state, subcommand.parse(rest))

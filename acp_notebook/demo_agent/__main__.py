"""The command line of the demo agent. Knows no command of the agent itself."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from acp_notebook.demo_agent.agent import DEFAULT_PACE_S, make_agent


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m acp_notebook.demo_agent",
        description="An ACP agent without a model. It talks JSON-RPC over stdin and stdout.",
    )
    parser.add_argument(
        "--protocol",
        type=int,
        choices=(1, 2),
        help="speak only this version of the protocol (default: what the client asks for)",
    )
    parser.add_argument(
        "--pace",
        type=_seconds,
        default=DEFAULT_PACE_S,
        metavar="SECONDS",
        help="wait this long between two pieces of text; 0 does not wait (default: %(default)s)",
    )
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve the demo agent until its client disconnects."""
    options = parse_arguments(arguments)
    protocols = (1, 2) if options.protocol is None else (options.protocol,)
    make_agent(pace_s=options.pace, protocols=protocols).run()


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 60:  # noqa: PLR2004 - more than a minute per word is a mistake
        raise argparse.ArgumentTypeError("the pace must be between 0 and 60 seconds")
    return value


if __name__ == "__main__":
    main()

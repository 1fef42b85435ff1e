"""The bundled demo agent: a real ACP agent without a model, the same in every run.

Each slash command shows one part of the protocol. `make_agent` builds it for in-memory use;
`python -m acp_notebook.demo_agent` serves it over stdin and stdout. Knows no client.
"""

from acp_notebook.demo_agent.agent import DEFAULT_PACE_S, make_agent

__all__ = ["DEFAULT_PACE_S", "make_agent"]

"""The agent's wire: one module per protocol version, and the interface that both implement."""

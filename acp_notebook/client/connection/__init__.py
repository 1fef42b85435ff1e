"""One connection to an agent: its process or address, handshake, reconnecting, redaction."""

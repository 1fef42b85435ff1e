"""The connection to one agent: process or address, handshake, reconnecting, redaction."""

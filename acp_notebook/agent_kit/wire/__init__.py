"""The wire seen from an agent: one module a protocol version, and the seam between them."""

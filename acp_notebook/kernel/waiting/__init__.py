"""Waiting in a cell while the page stays alive. Knows ipykernel's internals; knows no agent."""

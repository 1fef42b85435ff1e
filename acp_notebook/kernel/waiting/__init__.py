"""How a cell waits while the page stays alive. Knows ipykernel's insides; knows no agent."""

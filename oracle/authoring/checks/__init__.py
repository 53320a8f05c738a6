"""Judges the control of the agent's trees: turns, tools, guards, and how a query ends."""

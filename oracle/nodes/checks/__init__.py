"""Judges the control of the agent's trees: turns, tools, guards, and how a query ends."""

from oracle.nodes.checks import endings, protection, turns

JUDGES = (turns.judge, endings.judge, protection.judge)
CODES = (*turns.CODES, *endings.CODES, *protection.CODES)

"""Judges the control of the agent's trees: turns, tools, guards, and how a query ends."""

from oracle.nodes.checks import endings, handing, protection, racing, turns

JUDGES = (turns.judge, handing.judge, endings.judge, protection.judge, racing.judge)
CODES = (*turns.CODES, *handing.CODES, *endings.CODES, *protection.CODES, *racing.CODES)

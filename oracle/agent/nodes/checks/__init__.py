"""Judges the control of the agent's trees: turns, tools, guards, and how a query ends."""

from oracle.agent.nodes.checks import approvals, endings, handing, measures, protection, racing, rounds, times, turns

_MODULES = (turns, handing, endings, protection, racing, measures, times, rounds, approvals)
JUDGES = tuple(module.judge for module in _MODULES)
CODES = tuple(code for module in _MODULES for code in module.CODES)

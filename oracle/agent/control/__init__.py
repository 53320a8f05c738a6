"""What drives a query: a YAML tree, or the plain loop that a decision tree in Python drives."""

from oracle.agent.control.loop import LoopControl
from oracle.agent.control.opening import OpenAgent, open_agent, open_query
from oracle.agent.control.tree import TreeControl

__all__ = ["LoopControl", "OpenAgent", "TreeControl", "open_agent", "open_query"]

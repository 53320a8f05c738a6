"""Rules over the agent's runs: the events that they can name, as runs and recordings have them."""

from oracle.rules.vocabulary import AGENT_EVENTS

__all__ = ["AGENT_EVENTS"]

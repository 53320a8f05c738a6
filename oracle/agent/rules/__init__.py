"""Rules over the agent's runs: the events that they can name, as runs and records have them, and their enforcement.

`EventStream` turns what happens in a run into events, and `events_of` does so for a whole record; `RunRules` judges the
events of a run while it goes on, and refuses, stops or notifies where a rule says so.
"""

from oracle.agent.rules.enforcing import RunRules, rules_of
from oracle.agent.rules.recorded import Fact, Happening, events_of
from oracle.agent.rules.stream import EventStream
from oracle.agent.rules.vocabulary import AGENT_EVENTS

__all__ = ["AGENT_EVENTS", "EventStream", "Fact", "Happening", "RunRules", "events_of", "rules_of"]

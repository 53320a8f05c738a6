"""Rules over the agent's runs: the events that they can name, as runs and records have them, and their enforcement.

`EventStream` turns what happens in a run into events, and `events_of` does so for a whole record; `RunRules` judges the
events of a run while it goes on, and refuses, stops or notifies where a rule says so.
"""

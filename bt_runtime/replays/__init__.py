"""Recorded runs, done again and explained: replays, retraces, and traces of which node decided a tick and why."""

"""A running query and its steps, the same for every control.

`query` is what was asked; `run` holds state, transcript and output; `steps`, `turn` and `tool_calls` do the work;
`planning` and `notices` are pure functions for its limits and messages; `closing` ends it.
"""

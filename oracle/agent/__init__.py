"""The query under way, and its steps: the same for every control.

`query` is what was asked; `run` holds state, transcript and output; `steps`, `turn` and `tool_calls` do the work;
`planning` and `notices` decide and word it, as pure functions; `closing` ends it.
"""

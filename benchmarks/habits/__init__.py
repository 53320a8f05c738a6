"""Scripted agents with old habits, played against the shipped tree, the plain loop and the control of before.

- `world`: a small product with source code, notes, threads and a stand-in for the web, under the real tools.
- `tasks`: questions about it, and the facts that a whole answer has, each with its sources.
- `view`, `advice`, `mind`, `bad_habits`, `error_habits`, `good_habits`: agents, as functions of the request alone.
- `conversations`: which agent gets which task.
- `players`, `playing`, `scores`: who controls, one conversation under one control, and what it cost.
- `summary`, `report`, `latency`, `page`: the figures. `benchmarks.eval` asks a real model the same questions.

`python -m benchmarks.habits` prints the whole report; docs/internals/measured.md says what it can show.
"""

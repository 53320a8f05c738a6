"""Unneeded tool calls and turns of agents with old habits, under the tree, the plain loop and the control of before.

020 SC-003 (half the unneeded calls), SC-004 (99 % within the budget), SC-007 (latency), 012 SC-006 (30 % fewer turns);
docs/internals/measured.md says what scripted conversations can show. `python -m benchmarks.habits` has options.
"""

from benchmarks.habits import __main__ as habits


def main() -> None:
    habits.main(["--worst", "10"])


if __name__ == "__main__":
    main()

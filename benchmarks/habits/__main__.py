"""`python -m benchmarks.habits`: plays all conversations and prints the report."""

import argparse
import json
import logging
from collections.abc import Sequence
from pathlib import Path

import structlog

from benchmarks.habits.conversations import CONVERSATIONS
from benchmarks.habits.latency import latency_lines
from benchmarks.habits.page import PAGE, with_parts
from benchmarks.habits.playing import play
from benchmarks.habits.report import figures, lines

OBEDIENCES = (0.0, 0.5, 1.0)


def main(arguments: Sequence[str] = ()) -> None:
    """Play, print the report, and write it as JSON if asked to."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.habits", description=__doc__)
    parser.add_argument("--json", type=Path, help="also write all figures to this file")
    parser.add_argument("--page", action="store_true", help=f"also write the figures into {PAGE.name}")
    parser.add_argument("--only", default="", help="only conversations whose name contains this")
    parser.add_argument("--worst", type=int, default=40, help="how many of the worst conversations to list")
    parser.add_argument("--obedience", type=float, nargs="+", default=OBEDIENCES, help="shares of notes to obey")
    parser.add_argument("--no-latency", action="store_true", help="leave out what the control itself costs")
    given = parser.parse_args(arguments)
    # What the agents do on purpose, such as signals that cannot be read, is no news here.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    played = play([each for each in CONVERSATIONS if given.only in each.name], given.obedience)
    report = lines(played, worst=given.worst)
    report += [] if given.no_latency else ["", *latency_lines()]
    print("\n".join(report))
    if given.json is not None:
        given.json.write_text(json.dumps(figures(played), indent=1, ensure_ascii=False), encoding="utf-8")
    if given.page:
        PAGE.write_text(with_parts(PAGE.read_text(encoding="utf-8"), figures=report), encoding="utf-8")


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])

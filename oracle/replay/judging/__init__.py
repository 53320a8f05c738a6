"""Recorded runs, judged by the rules of a tree."""

from oracle.replay.judging.runs import Judge, Judgment, Violation, shown

__all__ = ["Judge", "Judgment", "Violation", "shown"]

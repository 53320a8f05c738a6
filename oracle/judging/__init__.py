"""Recorded runs, judged by the rules of a tree."""

from oracle.judging.log import facts_of
from oracle.judging.runs import Judge, Judgment, Story, shown

__all__ = ["Judge", "Judgment", "Story", "facts_of", "shown"]

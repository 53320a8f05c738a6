"""Recorded runs, judged by the rules of a tree."""

from oracle.judging.log import facts_of

__all__ = ["facts_of"]

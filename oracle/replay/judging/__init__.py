"""Recorded runs, judged by the rules of a tree."""

"""The trees that ship with Oracle: data for tree authors, read-only where it is installed.

An operator's own folder is searched before this one, so a copy of a file there takes its place.
"""

from pathlib import Path

FOLDER = Path(__file__).parent
"""Where the shipped `*.yaml` files are."""

__all__ = ["FOLDER"]

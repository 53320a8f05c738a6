"""A tree for Oracle in which three researchers search at the same time.

The entry points in `pyproject.toml` name the parts. The attributes here are for a use without installation:
`ORACLE_PLUGINS=deep_researcher`.
"""

from pathlib import Path

from deep_researcher.kinds import KINDS

kinds = KINDS
trees = Path(__file__).parent / "trees"

"""Public test doubles, for hosts and for authors of packages.

A model that plays a script, and an encoder that says what a test states. The product imports nothing from here.
"""

from oracle.llm.scripted import ScriptedCall, ScriptedModel, ScriptedSearch, ScriptedTurn, ScriptEndedError
from oracle.testing.encoder import FixedEncoder

__all__ = ["FixedEncoder", "ScriptEndedError", "ScriptedCall", "ScriptedModel", "ScriptedSearch", "ScriptedTurn"]

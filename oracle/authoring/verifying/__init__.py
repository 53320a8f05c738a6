"""Explores all behaviours of a tree before it runs, and proves or refutes what must hold for each run.

`verify` drives the real tree, with the product's nodes, agent and floor, and lets everything happen that can: every
kind of response, tool result, failure, cancel and deadline that the tree can distinguish. See `docs/verifying.md`.
"""

from oracle.authoring.verifying.exploring import Bounds, Headway
from oracle.authoring.verifying.report import Report, Result
from oracle.authoring.verifying.scripts import scenario_file
from oracle.authoring.verifying.stories import Counterexample, StoryStep, recording_of
from oracle.authoring.verifying.verify import Scope, verify

__all__ = [
    "Bounds",
    "Counterexample",
    "Headway",
    "Report",
    "Result",
    "Scope",
    "StoryStep",
    "recording_of",
    "scenario_file",
    "verify",
]

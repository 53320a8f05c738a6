"""Evidence: what an answer says was done, and the sources that it cites, are matched with what the run did.

The node `check_evidence` does it, by rules and without another model: `matching` is the pure function behind it.
Whatever has no match brings another turn that names it, then a mark in the answer.
"""

from oracle.core.features import Feature

FEATURE = Feature(
    name="evidence",
    summary="Matches what an answer claims, deeds and sources, with what the run did and read.",
    kinds="oracle.features.evidence.kinds:KINDS",
)

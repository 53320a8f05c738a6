"""The same question under another control, beside what users see; and what such pairs say."""

from oracle.shadow.controls import LOOP, ShadowControl, ShadowControlError, label_of, shadow_control
from oracle.shadow.figures import similarity
from oracle.shadow.rehearsing import Stage
from oracle.shadow.report import MOST_PAIRS, PairFacts, ShadowReport, facts_of, report_of
from oracle.shadow.running import Shadows

__all__ = [
    "LOOP",
    "MOST_PAIRS",
    "PairFacts",
    "ShadowControl",
    "ShadowControlError",
    "ShadowReport",
    "Shadows",
    "Stage",
    "facts_of",
    "label_of",
    "report_of",
    "shadow_control",
    "similarity",
]

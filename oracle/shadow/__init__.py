"""The same question under another control, beside what users see; and what such pairs say."""

from oracle.shadow.controls import LOOP, ShadowControl, ShadowControlError, label_of, shadow_control
from oracle.shadow.options import ShadowOptions
from oracle.shadow.rehearsing import Stage
from oracle.shadow.report import MOST_PAIRS, PairFacts, ShadowReport, facts_of, report_of
from oracle.shadow.running import Shadows
from oracle.shadow.similarity import similarity

__all__ = [
    "LOOP",
    "MOST_PAIRS",
    "PairFacts",
    "ShadowControl",
    "ShadowControlError",
    "ShadowOptions",
    "ShadowReport",
    "Shadows",
    "Stage",
    "facts_of",
    "label_of",
    "report_of",
    "shadow_control",
    "similarity",
]

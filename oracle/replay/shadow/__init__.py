"""The same question under another control, beside what users see; and what such pairs say."""

from oracle.replay.shadow.controls import LOOP, ShadowControl, ShadowControlError, label_of, shadow_control
from oracle.replay.shadow.figures import similarity
from oracle.replay.shadow.rehearsing import Stage
from oracle.replay.shadow.report import MOST_PAIRS, PairFacts, ShadowReport, facts_of, report_of
from oracle.replay.shadow.running import Shadows

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

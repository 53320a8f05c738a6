"""Scenario tests for trees: scripted conversations in YAML, and what must happen.

`read_scenario_file` reads a file (`from_yaml` its text, `to_yaml` writes one), `Player` plays a scenario, `judge`
compares.
"""

from oracle.scenarios.judging import ScenarioVerdict, judge
from oracle.scenarios.model import (
    Earlier,
    Moment,
    OutsideEvent,
    Scenario,
    SignalLine,
    ToolAnswer,
    ToolScript,
    Turn,
)
from oracle.scenarios.played import Played
from oracle.scenarios.playing import Player, PlayError
from oracle.scenarios.reading import ScenarioFileError, from_yaml, read_scenario_file
from oracle.scenarios.writing import to_yaml

__all__ = [
    "Earlier",
    "Moment",
    "OutsideEvent",
    "PlayError",
    "Played",
    "Player",
    "Scenario",
    "ScenarioFileError",
    "ScenarioVerdict",
    "SignalLine",
    "ToolAnswer",
    "ToolScript",
    "Turn",
    "from_yaml",
    "judge",
    "read_scenario_file",
    "to_yaml",
]

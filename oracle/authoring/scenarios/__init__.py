"""Scenario tests for trees: scripted conversations in YAML, and what must happen.

`read_scenario_file` reads a file (`from_yaml` its text, `to_yaml` writes one), `Player` plays a scenario, `judge`
compares.
"""

from oracle.authoring.scenarios.judging import ScenarioVerdict, judge
from oracle.authoring.scenarios.model import (
    Earlier,
    Moment,
    OutsideEvent,
    Scenario,
    SignalLine,
    ToolAnswer,
    ToolScript,
    Turn,
)
from oracle.authoring.scenarios.played import Played
from oracle.authoring.scenarios.playing import Player, PlayError
from oracle.authoring.scenarios.reading import ScenarioFileError, from_yaml, read_scenario_file
from oracle.authoring.scenarios.writing import to_yaml

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

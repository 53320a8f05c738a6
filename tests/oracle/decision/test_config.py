"""`AgentConfig`: names, defaults, bounds, and how wrong values are reported (012 FR-001, FR-003; decisions 2, 3)."""

from typing import Any

import pytest
from pydantic import ValidationError

from oracle.decision import AgentConfig, ConfigError, bounds, stricter

FIELDS = {
    "max_iterations": (15, 1, 50),
    "soft_warning_percent": (70, 50, 90),
    "token_budget": (50_000, 1_000, 200_000),
    "token_warning_percent": (80, 50, 95),
    "timeout_seconds": (120, 10, 600),
    "max_tool_calls_per_turn": (5, 1, 20),
    "max_parallel_tools": (3, 1, 10),
}
CAMEL = {
    "maxIterations": "max_iterations",
    "softWarningPercent": "soft_warning_percent",
    "tokenBudget": "token_budget",
    "tokenWarningPercent": "token_warning_percent",
    "timeoutSeconds": "timeout_seconds",
    "maxToolCallsPerTurn": "max_tool_calls_per_turn",
    "maxParallelTools": "max_parallel_tools",
}


def test_012_fr_001_the_seven_fields_have_the_defaults_of_decision_2() -> None:
    assert AgentConfig().model_dump() == {name: default for name, (default, _, _) in FIELDS.items()}


@pytest.mark.parametrize("name", FIELDS)
def test_012_fr_003_bounds_are_inclusive_and_nothing_beyond_them_is_taken(name: str) -> None:
    _, low, high = FIELDS[name]
    assert bounds(name) == (low, high)
    for value in (low, high):
        assert getattr(AgentConfig().with_limits({name: value}), name) == value
    for value in (low - 1, high + 1, 0, -1, 10**12):
        with pytest.raises(ConfigError):
            AgentConfig().with_limits({name: value})


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize("value", ["15", 15.0, 15.5, True, None, [15], float("nan"), ""])
def test_012_us1_3_a_value_that_is_no_whole_number_is_reported_with_field_value_and_bounds(
    name: str, value: Any
) -> None:
    _, low, high = FIELDS[name]
    with pytest.raises(ConfigError) as caught:
        AgentConfig().with_limits({name: value})
    assert str(caught.value) == f"{name} must be a whole number from {low:,} to {high:,}, not {value!r}"


def test_012_us1_3_max_iterations_of_0_is_refused_with_a_helpful_message() -> None:
    with pytest.raises(ConfigError, match=r"^max_iterations must be a whole number from 1 to 50, not 0$"):
        AgentConfig().with_limits({"max_iterations": 0})


@pytest.mark.parametrize("camel", CAMEL)
def test_decision_03_camel_case_is_read_and_snake_case_written(camel: str) -> None:
    name = CAMEL[camel]
    low = FIELDS[name][1]
    config = AgentConfig().with_limits({camel: low})
    assert config.model_dump()[name] == low
    assert camel not in config.model_dump()
    with pytest.raises(ConfigError, match=f"^{name} must be"):
        AgentConfig().with_limits({camel: 0})


def test_decision_03_unknown_fields_are_an_error_with_the_nearest_name() -> None:
    with pytest.raises(ConfigError, match="there is no limit 'max_iteration'; did you mean 'max_iterations'"):
        AgentConfig().with_limits({"max_iteration": 3})
    with pytest.raises(ConfigError, match="there is no limit 'colour'; there are max_iterations, soft_warning"):
        AgentConfig().with_limits({"colour": 3})


def test_decision_03_all_wrong_fields_are_reported_together_and_nothing_is_changed() -> None:
    config = AgentConfig(max_iterations=7)
    with pytest.raises(ConfigError) as caught:
        config.with_limits({"max_iterations": 99, "timeout_seconds": 1, "token_budget": 5_000})
    assert len(str(caught.value).splitlines()) == 2
    assert config.max_iterations == 7


def test_a_subset_replaces_only_what_it_names() -> None:
    config = AgentConfig(max_iterations=7, token_budget=9_000).with_limits({"max_iterations": 8})
    assert (config.max_iterations, config.token_budget) == (8, 9_000)


def test_a_field_in_both_spellings_is_taken_from_the_last_one() -> None:
    assert AgentConfig().with_limits({"max_iterations": 8, "maxIterations": 9}).max_iterations == 9


def test_no_limits_change_nothing() -> None:
    config = AgentConfig(max_iterations=7)
    assert config.with_limits({}) is config


def test_decision_31_each_limit_is_the_lower_of_two_and_the_percentages_are_the_wanted_ones() -> None:
    allowed = AgentConfig(max_iterations=10, token_budget=90_000, soft_warning_percent=50, token_warning_percent=50)
    wanted = AgentConfig(max_iterations=20, token_budget=60_000, timeout_seconds=300)
    assert stricter(wanted, allowed) == AgentConfig(max_iterations=10, token_budget=60_000)


def test_a_long_value_is_truncated_in_the_message() -> None:
    for text in ("x" * 78, "x" * 79):
        with pytest.raises(ConfigError) as caught:
            AgentConfig().with_limits({"max_iterations": text})
        shown = str(caught.value).partition(", not ")[2]
        assert shown == (repr(text) if len(text) == 78 else f"'{'x' * 78}…")


def test_the_configuration_is_immutable() -> None:
    with pytest.raises(ValidationError):
        AgentConfig().max_iterations = 3  # type: ignore[misc]

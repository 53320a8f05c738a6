"""The file of limits."""

from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from oracle.features.spending.limits import NANO, Limit, Limits, read_limits
from oracle.server.settings.reading import SettingsError

GOOD = """\
time_zone: Europe/Berlin
plans:
  pro:
    extends: free
    per_day: { tokens: null, money: { soft: 4, hard: 5.5 } }
    bounds: { token_budget: 90000 }
  free:
    per_day: { tokens: { hard: 100000 } }
    per_query: { tokens: { soft: 0, hard: 20000 } }
    bounds: { max_iterations: 10 }
default: free
users: { alice: pro, "ci-*": pro, "ci-1": free }
"""


@pytest.fixture
def read(tmp_path: Path):
    def from_text(text: str, *, has_prices: bool = True) -> Limits:
        file = tmp_path / "limits.yaml"
        file.write_text(text, encoding="utf-8")
        return read_limits(file, has_prices=has_prices)

    return from_text


def test_a_plan_has_what_it_extends_but_what_it_sets_itself(read) -> None:
    pro = read(GOOD).plan_of("alice")
    assert pro.limits == {("query", "tokens"): Limit(0, 20_000), ("day", "money"): Limit(4 * NANO, 5_500_000_000)}
    assert pro.bounds == {"max_iterations": 10, "token_budget": 90_000}
    assert read(GOOD).plan_of("bob").limits["day", "tokens"] == Limit(80_000, 100_000)


def test_a_name_goes_before_patterns_and_who_has_no_plan_is_not_limited(read) -> None:
    limits = read(GOOD)
    assert [limits.plan_of(user).name for user in ("alice", "ci-1", "ci-2", "bob")] == ["pro", "free", "pro", "free"]
    assert read("plans: {a: {}}\nusers: {alice: a}").plan_of("bob").limits == {}
    assert read("default: a\nplans: {a: {}}").plan_of("bob").name == "a"


@pytest.mark.parametrize(
    ("at", "begins", "ends"),
    [
        ("2026-03-29T12:00", "2026-03-29T00:00", "2026-03-30T00:00"),  # 23 hours
        ("2026-10-25T23:59", "2026-10-25T00:00", "2026-10-26T00:00"),  # 25 hours
        ("2026-12-31T00:00", "2026-12-31T00:00", "2027-01-01T00:00"),
    ],
)
def test_a_day_is_one_of_the_zone(read, at: str, begins: str, ends: str) -> None:
    zone = ZoneInfo("Europe/Berlin")
    seconds = [datetime.fromisoformat(each).replace(tzinfo=zone).timestamp() for each in (at, begins, ends)]
    assert read(GOOD).day(seconds[0]) == (seconds[1], seconds[2])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[]", "limits.yaml:1:1: the file must be a mapping"),
        ("plan: {}", "limits.yaml:1:1: the file has no field 'plan'"),
        ("plans: []", "'plans' must be a mapping"),
        ("plans: {a: 3}", "the plan 'a' must be a mapping"),
        ("plans: {a: {per_days: {}}}", "has no setting 'per_days'"),
        ("plans: {a: {per_day: {token: {hard: 1}}}}", "token"),
        ("plans: {a: {per_day: {tokens: 3}}}", "tokens"),
        ("plans: {a: {per_day: {tokens: {soft: 1}}}}", "hard"),
        ("plans: {a: {per_day: {tokens: {hard: -1}}}}", "at least 0"),
        ("plans: {a: {per_day: {money: {hard: .inf}}}}", "finite"),
        ("plans: {a: {per_day: {money: {soft: 3, hard: 2}}}}", "'soft' must be at most 'hard', which is 2"),
        ("plans: {a: {bounds: {max_turns: 3}}}", "in 'bounds': there is no limit 'max_turns'"),
        ("plans: {a: {bounds: {max_iterations: 99}}}", "max_iterations must be a whole number from 1 to 50, not 99"),
        (
            "plans: {a: {bounds: {soft_warning_percent: 60}}}",
            "'bounds' caps limits, and 'soft_warning_percent' is not a limit",
        ),
        ("plans: {a: {extends: a}}", "limits.yaml:1:13: plans extend each other in a loop: a -> a"),
        (
            "plans:\n  a: {extends: b}\n  b: {extends: c}\n  c: {extends: a}",
            "limits.yaml:4:7: plans extend each other in a loop: a -> b -> c -> a",
        ),
        ("plans: {free: {}, b: {extends: fre}}", "there is no plan 'fre'"),
        ("plans: {free: {}, b: {extends: fre}}", "did you mean 'free'?"),
        ("default: none", "there is no plan 'none'"),
        ("plans: {a: {}}\nusers: {alice: b}", "limits.yaml:2:9: there is no plan 'b'"),
        ("users: [alice]", "the list 'users' must be a mapping"),
        ("users: {alice: [a]}", "there is no plan"),
        ("time_zone: Berlin", "there is no time zone 'Berlin'"),
        ("time_zone: ../../etc/passwd", "there is no time zone"),
        ("time_zone: 3", "there is no time zone '3'"),
        ("plans: {'a b': {}}", "'a b' cannot name a plan"),
    ],
)
def test_mistakes_are_told_with_their_places(read, text: str, told: str) -> None:
    with pytest.raises(SettingsError) as raised:
        read(text)
    assert told in str(raised.value)


def test_money_needs_prices(read) -> None:
    with pytest.raises(SettingsError, match="ORACLE_PRICES") as raised:
        read("plans:\n  pro: {per_day: {money: {hard: 1}}}", has_prices=False)
    assert "limits.yaml:2:3: the plan 'pro' limits money, and no prices are known" in str(raised.value)


def test_a_long_chain_of_plans_is_read(read) -> None:
    chain = "\n".join(f"  p{n}: {{extends: p{n + 1}}}" for n in range(199))
    limits = read(f"plans:\n{chain}\n  p199: {{per_day: {{tokens: {{hard: 7}}}}}}\ndefault: p0")
    assert limits.plan_of("bob").limits["day", "tokens"].hard == 7

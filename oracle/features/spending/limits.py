"""The file of limits: plans, and whose they are, read with the places of all its mistakes.

```yaml
time_zone: Europe/Berlin        # of days; else UTC
plans:
  free:
    per_day: { tokens: { soft: 80000, hard: 100000 } }
    bounds: { max_iterations: 10 }
  pro:
    extends: free
    per_day: { tokens: null, money: { hard: 5 } }
default: free
users: { alice: pro, "ci-*": free }
```

- A plan has the limits of the one that it extends, but those that it names itself; null takes one away.
- A name of a user goes before patterns, and of patterns the first that matches. Who has no plan is not limited.
- Money is in the currency of the prices. What `bounds` names caps the limits of each query (`AgentConfig`).
"""

import re
from collections.abc import Mapping
from dataclasses import field, replace
from datetime import UTC, date, datetime, timedelta, tzinfo
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, Literal, Self
from zoneinfo import ZoneInfo

from pydantic import Field, model_validator

from bt_runtime.language.kind import NodeSettings
from bt_runtime.text import did_you_mean
from bt_runtime.text.data import dataclass
from bt_runtime.text.yaml_reader import Entry, YamlNode
from oracle.core.yaml_records import Reader, read_file
from oracle.decision import AgentConfig, bounds
from oracle.decision.config import ConfigError, stricter
from oracle.server.settings.reading import SettingsError

Span = Literal["day", "query"]
Unit = Literal["tokens", "money"]
NANO: Final = 1_000_000_000
"""Money is counted in whole billionths: the token of the cheapest model is seen, and sums are exact."""
_UNITS: Final[Mapping[Unit, int]] = {"tokens": 1, "money": NANO}
_MOST: Final = 200
_SOFT: Final = 0.8
_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_CHANGEABLE: Final = tuple(name for name in AgentConfig.model_fields if not name.endswith("_percent"))


class Amount(NodeSettings):
    """A limit; `soft` is 80 percent of `hard` where it is not given. Money is in the currency of the prices."""

    soft: float | None = Field(default=None, ge=0, le=10**12, allow_inf_nan=False)
    hard: float = Field(ge=0, le=10**12, allow_inf_nan=False)

    @model_validator(mode="after")
    def _soft_comes_first(self) -> Self:
        if self.soft is not None and self.soft > self.hard:
            raise ValueError(f"'soft' must be at most 'hard', which is {self.hard:g}")
        return self

    def limit(self, scale: int) -> "Limit":
        """The limit in whole parts, of which `scale` are one."""
        return Limit(round(scale * (self.hard * _SOFT if self.soft is None else self.soft)), round(scale * self.hard))


class Amounts(NodeSettings):
    """The limits of one span; null takes the one away that the plan has otherwise."""

    tokens: Amount | None = None
    money: Amount | None = None


class PlanFields(NodeSettings):
    """What a plan, or an operator for one user, may set."""

    extends: str | None = Field(default=None, max_length=64)
    per_day: Amounts | None = None
    per_query: Amounts | None = None
    bounds: Mapping[str, int] = Field(default_factory=dict, max_length=20)

    @model_validator(mode="after")
    def _bounds_can_be(self) -> Self:
        if percents := [name for name in self.bounds if name.endswith("_percent")]:
            raise ValueError(f"'bounds' caps limits, and {percents[0]!r} is not a limit")
        try:
            AgentConfig().with_limits(self.bounds)
        except ConfigError as error:
            raise ValueError(f"in 'bounds': {error}") from None
        return self


@dataclass(frozen=True, slots=True)
class Limit:
    """How much may be spent: in tokens, or in billionths of the currency."""

    soft: int
    hard: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What holds for a user.

    Args:
        limits: by what they are of; those that there are.
        bounds: the highest values of fields of `AgentConfig`.
    """

    name: str = ""
    limits: Mapping[tuple[Span, Unit], Limit] = field(default_factory=dict)
    bounds: Mapping[str, int] = field(default_factory=dict)

    def changed(self, fields: PlanFields, name: str) -> "Plan":
        """The plan with what `fields` sets in its place."""
        limits = dict(self.limits)
        spans: tuple[tuple[Span, Amounts | None], ...] = (("day", fields.per_day), ("query", fields.per_query))
        for span, amounts in spans:
            given = {} if amounts is None else {name: getattr(amounts, name) for name in amounts.model_fields_set}
            for unit, scale in _UNITS.items():
                if unit in given:
                    limits.pop((span, unit), None)
                    if (amount := given[unit]) is not None:
                        limits[span, unit] = amount.limit(scale)
        return replace(self, name=name, limits=limits, bounds={**self.bounds, **fields.bounds})

    def caps(self, config: AgentConfig) -> AgentConfig:
        """The configuration, lowered to the bounds of the plan."""
        return stricter(config, self.most) if self.bounds else config

    @property
    def most(self) -> AgentConfig:
        """The highest limits of a query."""
        return AgentConfig(**{**{name: bounds(name)[1] for name in _CHANGEABLE}, **self.bounds})

    @property
    def uses_money(self) -> bool:
        """Whether a limit is one of money."""
        return any(unit == "money" for _, unit in self.limits)


@dataclass(frozen=True, slots=True)
class Limits:
    """What the file says.

    Args:
        zone: whose midnights part the days.
        default: the plan of who is not among `users`; empty: none.
        users: the plans of users, by name or pattern.
    """

    plans: Mapping[str, Plan] = field(default_factory=dict)
    default: str = ""
    users: Mapping[str, str] = field(default_factory=dict)
    zone: tzinfo = UTC

    def plan_of(self, user_id: str) -> Plan:
        """The plan of a user, by the file alone."""
        found = self.users.get(user_id) or next(
            (plan for pattern, plan in self.users.items() if fnmatchcase(user_id, pattern)), self.default
        )
        return self.plans.get(found, Plan())

    def day(self, at: float) -> tuple[float, float]:
        """When the day of a time begins and ends, in seconds since the epoch."""
        today = datetime.fromtimestamp(at, self.zone).date()
        return self._midnight(today), self._midnight(today + timedelta(days=1))

    def _midnight(self, day: date) -> float:
        return datetime(day.year, day.month, day.day, tzinfo=self.zone).timestamp()


def read_limits(path: Path, *, has_prices: bool) -> Limits:
    """What a file limits.

    Args:
        path: the file.
        has_prices: the service knows what models cost.

    Raises:
        SettingsError: it cannot be read, or has mistakes; the message has the places of all of them.
    """
    return read_file(
        path, lambda reader, root: _limits(reader, root, has_prices), what="the file of limits", error=SettingsError
    )


def _limits(reader: Reader, root: YamlNode, has_prices: bool) -> Limits:  # noqa: FBT001  see `read_limits`
    fields = reader.fields(root, ("plans", "default", "users", "time_zone"), what="the file")
    written: dict[str, PlanFields] = {}
    entries: Mapping[str, Entry] = {}
    if plans := fields.get("plans"):
        entries = _below(plans)
        hint = "1 to 64 letters, digits, '.', '_' and '-'"
        written = reader.settings(plans, PlanFields, noun="plan", of="the plan", names=_NAME, hint=hint, most=_MOST)
    made: dict[str, Plan] = {}
    for name in written:
        _make(reader, name, written, entries, made, behind=())
        if name in made and made[name].uses_money and not has_prices:
            hint = "set ORACLE_PRICES to a file of what models cost, or limit tokens"
            reader.report(entries[name], f"the plan {name!r} limits money, and no prices are known", hint)
    default = _plan_named(reader, fields.get("default"), entries)
    users: dict[str, str] = {}
    if entry := fields.get("users"):
        for user, each in reader.fields(entry.node, _below(entry), what="the list 'users'").items():
            users[user] = _plan_named(reader, each, entries)
    return Limits(made, default, users, _zone(reader, fields.get("time_zone")))


def _make(
    reader: Reader,
    name: str,
    written: Mapping[str, PlanFields],
    entries: Mapping[str, Entry],
    made: dict[str, Plan],
    *,
    behind: tuple[str, ...],
) -> Plan:
    """Make a plan, and before it the one that it extends; `behind`: those that extend it."""
    if name in made:
        return made[name]
    fields, base = written[name], Plan()
    if fields.extends is not None:
        entry = _below(entries[name])["extends"]
        if fields.extends in (*behind, name):
            chain = " -> ".join((*behind, name, fields.extends))
            reader.report(entry, f"plans extend each other in a loop: {chain}", "let one of them extend none")
        elif (known := _plan_named(reader, entry, entries)) in written:
            base = _make(reader, known, written, entries, made, behind=(*behind, name))
    made[name] = base.changed(fields, name)
    return made[name]


def _below(entry: Entry) -> Mapping[str, Entry]:
    return entry.node.data if isinstance(entry.node.data, dict) else {}


def _plan_named(reader: Reader, entry: Entry | None, plans: Mapping[str, Entry]) -> str:
    """The name of a plan that there is; empty after a mistake."""
    if entry is None:
        return ""
    name = entry.node.plain()
    if isinstance(name, str) and name in plans:
        return name
    near = did_you_mean(name, plans) if isinstance(name, str) else None
    hint = near or (f"plans: {', '.join(list(plans)[:30])}" if plans else "write it below 'plans:'")
    reader.report(entry, f"there is no plan {str(name)[:80]!r}", hint)
    return ""


def _zone(reader: Reader, entry: Entry | None) -> tzinfo:
    if entry is None:
        return UTC
    name = entry.node.plain()
    try:
        return ZoneInfo(name) if isinstance(name, str) and len(name) <= 64 else ZoneInfo("")
    except (ValueError, OSError, LookupError):  # LookupError: `ZoneInfoNotFoundError`
        reader.report(entry, f"there is no time zone {str(name)[:80]!r}", "such as 'Europe/Berlin', or 'UTC'")
        return UTC

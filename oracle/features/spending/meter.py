"""Counts what users spend, and says how they stand (`oracle.runs.metering`).

A turn begins only while all of the user's turns that have ended are below each hard limit, as of the latest commit of
the query that asks for it. So each query that is under way goes one turn beyond a limit at most.
"""

import math
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import KW_ONLY, field, replace
from typing import Any, Final, NamedTuple
from uuid import uuid4

import structlog
from pydantic import ValidationError

from bt_runtime import TreeDefinition
from bt_runtime.text import iso
from bt_runtime.text.data import dataclass
from oracle.agent.answering import Checked
from oracle.agent.nodes.board import LIMIT_REACHED
from oracle.agent.outcomes import TurnOutcome
from oracle.core.chunks import TokenUsage
from oracle.core.errors import OperatorError, UserError
from oracle.core.features import features
from oracle.core.loading import imported
from oracle.decision import AgentConfig
from oracle.features.spending.guard import SpendBudget, SpendBudgetSettings
from oracle.features.spending.keys import QUERY_COST, SPEND_STATE, STATES
from oracle.features.spending.limits import NANO, Limit, Limits, Plan, PlanFields, Span, Unit, read_limits
from oracle.features.spending.table import Spent, adding, digest, setting_of, spent
from oracle.runs.storage.commit import Work
from oracle.runs.storage.database import Database
from oracle.runs.storage.records import RunRecord
from oracle.server.api.parts import ServiceParts

log = structlog.get_logger(__name__)

_PRICES: Final = "oracle.features.usage.prices:Prices"


class SpentError(UserError):
    """The user has spent as much as a day allows; the message says what the limit is, and when the next day begins."""

    status = 429


class Standing(NamedTuple):
    """How a user, or a query, stands by one limit; in tokens, or in billionths of the currency."""

    span: Span
    unit: Unit
    limit: Limit
    used: int

    @property
    def state(self) -> str:
        """`ok`, `near` or `over`."""
        return STATES[(self.used >= self.limit.soft) + (self.used >= self.limit.hard)]


@dataclass(slots=True)
class Spending:
    """The limits of a service.

    Args:
        limits: of the file; `None`: there is none, and nobody is limited.
        currency: of money; empty: no prices are known.
        cost: what tokens of a model have cost, in billionths of the currency.
        model: the one that answers where a question names none.
    """

    database: Database
    write: Callable[[Work], Any]
    limits: Limits | None
    _: KW_ONLY
    currency: str = ""
    cost: Callable[[str, TokenUsage], int] = lambda _model, _usage: 0
    model: str = ""

    @property
    def file(self) -> Limits:
        """What the file says; an empty one, if there is none."""
        return self.limits or Limits()

    async def plan_of(self, user_id: str) -> Plan:
        """What holds for a user: the plan of the file, with what an operator has set for that user."""
        if self.limits is None:
            return Plan()
        plan, data = self.limits.plan_of(user_id), await setting_of(self.database, user_id)
        if data is None:
            return plan
        try:
            return self.changed(plan, PlanFields.model_validate(data))
        except (ValidationError, UserError) as error:  # the file has changed since
            log.warning("spending.setting_skipped", user_id=user_id, problem=str(error)[:300])
            return plan

    def changed(self, plan: Plan, fields: PlanFields) -> Plan:
        """A plan with what an operator sets for one user.

        Raises:
            UserError: there is no such plan, or money cannot be limited here.
        """
        known = self.file.plans
        if fields.extends is not None and fields.extends not in known:
            names = ", ".join(known) or "none"
            raise UserError(
                f"there is no plan {fields.extends!r}; plans: {names}", loc=("body", "extends"), value=fields.extends
            )
        made = (plan if fields.extends is None else known[fields.extends]).changed(fields, fields.extends or plan.name)
        if made.uses_money and not self.currency:
            raise UserError("money cannot be limited where no prices are known; set ORACLE_PRICES, or limit tokens")
        return made

    async def standings(self, user_id: str, plan: Plan, run: RunRecord | None = None) -> tuple[list[Standing], Spent]:
        """How a user stands today, and how a run does, by each limit; and what the run has spent.

        Args:
            user_id: the user.
            plan: what holds for the user.
            run: one of the user's; `None`: the limits of a query are left out.
        """
        since, _ = self.day()
        of_day, of_run = await spent(self.database, user_id, since=since, run=run)
        used = {"day": of_day, "query": of_run}
        limits = plan.limits.items()
        found = [
            Standing(span, unit, limit, getattr(used[span], unit))
            for (span, unit), limit in limits
            if span == "day" or run is not None
        ]
        return found, of_run

    def day(self) -> tuple[float, float]:
        """When today began and ends, in seconds since the epoch."""
        return self.file.day(self.database.now())

    def amount(self, unit: Unit, value: int) -> str:
        """An amount for people: `100,000 tokens`, `0.5 EUR`."""
        return f"{value:,} tokens" if unit == "tokens" else f"{round(value / NANO, 6):,.12g} {self.currency}"

    def reached(self, standings: list[Standing]) -> str:
        """The first limit that is reached, as the part of a sentence; empty: none is."""
        for each in standings:
            if each.state == "over":
                most = self.amount(each.unit, each.limit.hard)
                if each.span == "query":
                    return f"the limit of {most} for one question is reached"
                return f"your limit of {most} a day is reached; you can ask again from {self._again()}"
        return ""

    def _again(self) -> str:
        return iso(self.day()[1], precision="seconds")

    async def bounds(self, user_id: str) -> AgentConfig | None:
        """The highest limits of a user's queries; `None`: those of everybody."""
        plan = await self.plan_of(user_id)
        return plan.most if plan.bounds else None

    async def admit(self, checked: Checked) -> Checked:
        """A question with the limits that its user may have.

        Raises:
            SpentError: the user has spent what the day allows.
            OperatorError: its tree limits money, and no prices are known.
        """
        if not self.currency and checked.tree is not None and _limits_money(checked.tree):
            raise OperatorError(f"the tree {checked.ask.tree!r} limits money: set ORACLE_PRICES")
        if self.limits is None:
            return checked
        plan = await self._admitted(checked.ask.user_id)
        return replace(checked, config=plan.caps(checked.config)) if plan.bounds else checked

    async def admit_auxiliary(self, user_id: str) -> None:
        """Let a chat product ask something for itself in the name of a user.

        Raises:
            SpentError: the user has spent what the day allows.
        """
        if self.limits is not None:
            await self._admitted(user_id)

    async def _admitted(self, user_id: str) -> Plan:
        plan = await self.plan_of(user_id)
        if any(span == "day" for span, _ in plan.limits):
            words = self.reached((await self.standings(user_id, plan))[0])
            if words:
                after_s = math.ceil(self.day()[1] - self.database.now())
                error = SpentError(f"{words[0].upper()}{words[1:]}.")
                error.retry_after_s = max(1, after_s)
                raise error
        return plan

    async def count_auxiliary(self, user_id: str, *, model: str, usage: TokenUsage) -> None:
        """Count what a chat product has used for itself in the name of a user."""
        if self.limits is not None:
            await self.write(self.counting(user_id, uuid4().hex, "auxiliary", model, usage))

    def counting(self, user_id: str, run_id: str, step: str, model: str, usage: TokenUsage) -> Work:
        """What counts some tokens of a model."""
        return adding(
            self.database,
            {
                "of_run": digest(run_id),
                "step": step[-255:],
                "user_id": user_id,
                "at": self.database.now(),
                "tokens": usage.counted,
                "cost": self.cost(model, usage),
            },
        )

    async def open(self, run: RunRecord, tree: TreeDefinition | None, *, is_new: bool) -> "RunSpending | None":
        """What counts a run; `None`: nothing limits it."""
        plan = await self.plan_of(run.user_id)
        has_cost = bool(self.currency) and tree is not None and _asks_for_cost(tree)
        if not plan.limits and not has_cost:
            return None
        told = {SPEND_STATE: "ok", LIMIT_REACHED: ""} if is_new else {}
        return RunSpending(self, run, plan, run.input.get("model") or self.model, has_cost=has_cost, told=told)


@dataclass(slots=True)
class RunSpending:
    """What one run spends.

    Args:
        plan: what holds for its user, as it was when the run began here.
        model: the one that a turn counts as that was broken off before the provider named one.
        has_cost: the tree gets the cost of the run.
        told: the values that the tree has.
    """

    of: Spending
    run: RunRecord
    plan: Plan
    model: str
    _: KW_ONLY
    has_cost: bool
    told: dict[str, Any] = field(default_factory=dict)

    def counting(self, step: str, outcome: TurnOutcome) -> Work:
        """What is written in the commit of a turn."""
        self.model = outcome.model or self.model
        return self.of.counting(self.run.user_id, self.run.id, step, self.model, outcome.usage)

    async def changed(self) -> Mapping[str, Any]:
        """The values that are others than when this was asked last."""
        standings, of_run = await self.of.standings(self.run.user_id, self.plan, self.run)
        state = max((each.state for each in standings), key=STATES.index, default="ok")
        now: dict[str, Any] = {SPEND_STATE: state, LIMIT_REACHED: self.of.reached(standings)}
        if self.has_cost:
            now[QUERY_COST] = of_run.money / NANO
        changed = {key: value for key, value in now.items() if self.told.get(key) != value}
        self.told |= changed
        return changed


def _asks_for_cost(tree: TreeDefinition) -> bool:
    return _limits_money(tree) or any(QUERY_COST in text for text in tree.texts.values())


def _limits_money(tree: TreeDefinition) -> bool:
    if SpendBudget.kind.name not in tree.kinds:
        return False
    return any(isinstance(each.settings, SpendBudgetSettings) and each.settings.money for each in tree.nodes())


@asynccontextmanager
async def open_spending(parts: ServiceParts) -> AsyncIterator[None]:
    """Count and limit what the runs of a service spend.

    Raises:
        SettingsError: the file of limits cannot be used.
    """
    settings, store = parts.settings, parts.store
    spending = Spending(store.database, store.write, None, model=parts.oracle.model_name)
    if "usage" in {each.name for each in features(settings.features)}:
        prices = parts.of(imported(_PRICES))
        spending.currency = prices.currency or ""
        if prices.currency:
            spending.cost = _counted(prices)
    if settings["limits"] is not None:
        spending.limits = read_limits(settings["limits"], has_prices=bool(spending.currency))
    parts.add(spending)
    parts.runs.meter = spending
    yield


def _counted(prices: Any) -> Callable[[str, TokenUsage], int]:  # noqa: ANN401  of a feature that may not be there
    def cost(model: str, usage: TokenUsage) -> int:
        found: float | None = prices.cost(model, usage)
        if found is None:  # nobody spends less by naming a model whose price is not known
            found = max((prices.cost(name, usage) for name in prices.models), default=0.0)
        return round(found * NANO)

    return cost

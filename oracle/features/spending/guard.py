"""The guard `spend_budget`, which limits what a query spends."""

from pydantic import Field, model_validator

from bt_runtime import Facts, Figure, NodeSettings, Stepped, Words, node
from bt_runtime.language.kind import GuardFlow
from bt_runtime.text.phrases import number
from oracle.agent.nodes.base import AgentGuard
from oracle.agent.nodes.flows import LAGGING
from oracle.agent.nodes.roles import LIMITS_TOKENS
from oracle.decision import AgentState
from oracle.features.spending.keys import QUERY_COST


class SpendBudgetSettings(NodeSettings):
    """Settings of `spend_budget`; at least one is given.

    Args:
        tokens: the most tokens that the run may use.
        money: the most that it may cost, in the currency of `ORACLE_PRICES`.
    """

    tokens: int | None = Field(default=None, ge=1)
    money: float | None = Field(default=None, gt=0, allow_inf_nan=False)

    @model_validator(mode="after")
    def _limits_something(self) -> "SpendBudgetSettings":
        if self.tokens is None and self.money is None:
            raise ValueError("'spend_budget' needs 'tokens' or 'money'")
        return self


@node(
    "spend_budget",
    settings=SpendBudgetSettings,
    shorthand="tokens",
    facts=Facts(roles=(LIMITS_TOKENS,), reads=(QUERY_COST,)),
    flow=GuardFlow("spending asked", writes=LAGGING),
)
class SpendBudget(AgentGuard[SpendBudgetSettings]):
    """Trips when the run has spent its limit of tokens or money: `token_budget`.

    SUCCESS until then. The turn that reaches the limit is completed, but its tools do not run. A service without prices
    (`ORACLE_PRICES`) refuses questions whose tree limits money.

    ```yaml
    spend_budget: {tokens: 20000}
    ```
    """

    reason = "token_budget"

    def holds(self, state: AgentState) -> bool:
        """Whether the query has spent enough; the words say of what."""
        if words := self._reached(state):
            self.agent.state = state.after_limit(words)
        return bool(words)

    def _reached(self, state: AgentState) -> str:
        tokens, money, cost = self.settings.tokens, self.settings.money, self.run.read(QUERY_COST)
        if tokens is not None and state.tokens_used >= tokens:
            return f"this run may use {tokens:,} tokens, and has used {state.tokens_used:,}"
        if money is not None and cost is not None and cost >= money:
            return f"this run may cost {number(money)}, and has cost {number(cost)}"
        return ""

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the state says it
        """How much is spent."""
        state, tokens, money = self.agent.state, self.settings.tokens, self.settings.money
        cost = self.run.read(QUERY_COST) or 0.0
        figures = []
        if tokens is not None:
            figures.append(Figure("tokens", state.tokens_used, tokens))
        if money is not None:
            figures.append(Figure("money", cost, money))
        text = ", ".join(f"{number(each.value)} of {number(each.limit or 0)} {each.name}" for each in figures)
        sentence = f"Enough is spent: {text}." if self._reached(state) else f"{text} are spent."
        return Words(text, sentence, tuple(figures))

"""What a model's requests cost by the provider's report, at list prices; no request is sent once the budget is spent.

A request's cost is known when it has been answered, so a run can exceed its budget by one request. What the provider
does not report, of a turn that was interrupted or at all, is estimated from the characters.

The controls share a prompt, so whoever is asked first would pay for the others' cache. So each conversation also has a
bill of its own, on which what its first request reads from the cache is written to it; of all of them together, only
`spent` is what was paid.
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace

from benchmarks.eval.record import Spent, Turn
from bt_runtime.text import estimate_tokens
from oracle.agent.planning import message_characters
from oracle.llm.protocol import (
    Model,
    ModelError,
    ModelEvent,
    ModelFault,
    ModelRequest,
    TextDelta,
    ThinkingDelta,
    ToolCallRequested,
    TurnEnded,
    Usage,
    UsageReported,
)

PRICES_OF = "2026-10-24"
"""The day on which the prices were those of the provider's list (platform.claude.com, "Pricing")."""
_LONG_PROMPT_TOKENS = 100_000


@dataclass(frozen=True)
class Price:
    """Dollars for a million tokens; the cache is written for five minutes.

    Args:
        long_prompt: the factor on everything where the prompt has more than 100 000 tokens.
    """

    input: float
    cache_write: float
    cache_read: float
    output: float
    long_prompt: float = 1.0

    def dollars(self, usage: Usage) -> float:
        """The price of one request."""
        sizes = (usage.input_tokens or 0, usage.cache_creation_tokens, usage.cache_read_tokens)
        rates = (self.input, self.cache_write, self.cache_read)
        cost = sum(size * rate for size, rate in zip(sizes, rates, strict=True))
        cost += (usage.output_tokens or 0) * self.output
        return cost * (self.long_prompt if sum(sizes) > _LONG_PROMPT_TOKENS else 1.0) / 1e6


_OPUS = Price(5, 6.25, 0.5, 25)
PRICES: Mapping[str, Price] = {
    "fable-5": Price(10, 12.5, 1, 50),
    "fable-5-1": Price(10, 12.5, 0.25, 50),
    "opus-4-5": _OPUS,
    "opus-4-6": _OPUS,
    "opus-4-7": _OPUS,
    "opus-4-8": _OPUS,
    "opus-5": _OPUS,
    "opus-5-5": Price(4, 5, 0.2, 20),
    "sonnet-4-5": Price(3, 3.75, 0.3, 15),
    "sonnet-4-6": Price(3, 3.75, 0.3, 15),
    "sonnet-5": Price(2, 2.5, 0.2, 10),
    "sonnet-5-5": Price(2, 2.5, 0.1, 10),
    "haiku-4-5": Price(1, 1.25, 0.1, 5),
    "haiku-5-5": Price(0.1, 0.125, 0.01, 0.5, long_prompt=5),
}
DEAREST = PRICES["fable-5"]


def listed_price(model: str) -> Price | None:
    """The list price of a model by its name, which may have a prefix or a date; `None` if it is not on the list."""
    name = max((known for known in PRICES if known in model.replace(".", "-")), key=len, default=None)
    return None if name is None else PRICES[name]


class MeteredModel:
    """A model whose turns are kept and whose requests are counted until the budget is spent.

    Args:
        model: answers; the caller closes it.
        budget_dollars: of this run of the program and what was spent before.
        spent: before.
    """

    has_web_search = False
    """The stand-in's pages are searched, not the real web."""

    def __init__(self, model: Model, *, budget_dollars: float, spent: Spent) -> None:
        self.spent = spent
        self.bill = Spent()
        """Of a conversation, as if nothing of it had been cached before; the caller empties it."""
        self.turns: list[Turn] = []
        """The turns that have ended since `begin`."""
        self.begun = 0
        """The turns that have begun since `begin`."""
        self.fault: ModelFault | None = None
        """Why the last request was not answered."""
        self._model = model
        self._budget_dollars = budget_dollars

    @property
    def name(self) -> str:
        return self._model.name

    async def aclose(self) -> None:
        """Do nothing; the caller closes the model."""

    def begin(self) -> None:
        """A new query."""
        self.turns, self.begun, self.fault = [], 0, None

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Run one turn.

        Raises:
            ModelError: the provider failed, or the budget is spent.
        """
        if self.spent.dollars >= self._budget_dollars:
            said = f"the budget is spent: ${self.spent.dollars:.2f} of ${self._budget_dollars:.2f} (--budget)"
            self.fault = ModelFault("internal", said, said)
            raise ModelError(self.fault)
        self.begun += 1
        text, thought, calls, ended, usage = "", 0, 0, None, Usage()
        try:
            async with aclosing(self._model.stream(replace(request, web_search=False))) as events:
                async for event in events:
                    match event:
                        case TextDelta():
                            text += event.text
                        case ThinkingDelta():
                            thought += len(event.text)
                        case ToolCallRequested():
                            calls += 1
                        case UsageReported():
                            usage = event.usage
                        case TurnEnded():
                            ended, usage = event, event.usage
                        case _:
                            pass
                    yield event
        except ModelError as error:
            self.fault = error.fault
            raise
        finally:  # also where a limit has closed the stream
            self.turns.append(Turn(text, calls, estimate_tokens(len(request.system))))
            if ended is not None or text or thought or calls or usage != Usage():
                self._count(request, usage, len(text) + thought, ended)

    def _count(self, request: ModelRequest, usage: Usage, said: int, ended: TurnEnded | None) -> None:
        is_reported = ended is not None and None not in {usage.input_tokens, usage.output_tokens}
        if not is_reported:
            sent = len(request.system) + message_characters(request.messages)
            known = estimate_tokens(sent) if usage.input_tokens is None else usage.input_tokens
            usage = replace(
                usage, input_tokens=known, output_tokens=max(usage.output_tokens or 0, estimate_tokens(said))
            )
        price = listed_price(ended.model if ended else request.model or self.name) or DEAREST
        self.spent += _spent(price, usage, is_reported=is_reported)
        if not self.bill.requests:
            written = usage.cache_creation_tokens + usage.cache_read_tokens
            usage = replace(usage, cache_creation_tokens=written, cache_read_tokens=0)
        self.bill += _spent(price, usage, is_reported=is_reported)


def _spent(price: Price, usage: Usage, *, is_reported: bool) -> Spent:
    read, written = usage.cache_read_tokens, usage.cache_creation_tokens
    sizes = (usage.input_tokens or 0, written, read, usage.output_tokens or 0)
    return Spent(1, *sizes, price.dollars(usage), int(not is_reported))

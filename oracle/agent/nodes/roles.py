"""The roles of node kinds: what a kind does for a query, as its `Facts` say it, so that nobody asks for its name."""

from typing import Final

from bt_runtime.language.kind import CALLS_HOST

ASKS_MODEL: Final = "asks the model"
"""A turn: posts a request whose outcome is a `TurnOutcome`, and has the settings and methods of `LlmTurn`."""
RUNS_CALLS: Final = "runs the open calls"
"""Posts a request whose outcome is a `ToolsOutcome`: each open tool call has a result then."""
ASKS_PERSON: Final = "asks a person"
"""Waits for a decision of a person, which comes by the key `answers`."""
REFUSES_CALLS: Final = "refuses the open calls"
HOLDS_BACK_CALLS: Final = "holds back calls"
GRANTS_TURN: Final = "grants a turn"
TRIES_STRATEGY: Final = "tries a strategy"
REQUIRES_ANSWER: Final = "requires an answer"
OFFERS_TOOLS: Final = "offers tools by name"
COMPOSES_PROMPT: Final = "composes the prompt"
CLASSIFIES_QUERY: Final = "classifies the question"
CLASSIFIES_RESPONSE: Final = "classifies the response"
JUDGES_CONTEXT: Final = "judges the context"
WARNS_NEAR_LIMITS: Final = "warns near limits"
SPEAKS: Final = "speaks"
"""Adds words of the author to the answer."""
STOPS: Final = "stops"
"""Writes the reason of its setting `reason`."""
EXPLAINS_STOP: Final = "explains the stop"
FINISHES: Final = "finishes"
"""Posts a request that saves the exchange and ends the stream; allowed after a cancel and after the deadline."""

WORK: Final = (ASKS_MODEL, RUNS_CALLS, CALLS_HOST)
"""The roles of what takes time, costs something, and is in vain once the query has ended."""

SEES_CANCEL: Final = "sees the cancel"
LIMITS_TURNS: Final = "limits the turns"
LIMITS_TOKENS: Final = "limits the tokens"
LIMITS_TIME: Final = "limits the time"
SEES_REPETITION: Final = "sees repetition"
SEES_ERRORS: Final = "sees errors"

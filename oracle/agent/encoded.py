"""What the encoder adds to a turn's outcome."""

import asyncio
from dataclasses import replace

from oracle.agent.outcomes import TurnOutcome
from oracle.agent.run import AgentRun
from oracle.classify import HeuristicIntentClassifier


async def with_encoding(run: AgentRun, outcome: TurnOutcome) -> TurnOutcome:
    """The outcome with how the encoder reads it, where the fallback may ask for that.

    The encoder is asked only where the built-in heuristics decide: a classifier in their place decides by itself. A
    turn that is halted meanwhile has ended all the same, and stays as it is.
    """
    if outcome.is_side or not outcome.is_unclear or not isinstance(run.equipment.intents, HeuristicIntentClassifier):
        return outcome
    try:
        encoded = await run.equipment.encoder.intent_shares(outcome.whole_text)
    except asyncio.CancelledError:
        return outcome
    return outcome if encoded is None else replace(outcome, encoded=encoded)

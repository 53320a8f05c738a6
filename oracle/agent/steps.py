"""The steps of a query that do not wait: classifying it, and choosing its tools and its prompt."""

from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache

import structlog

from bt_runtime.text import estimate_tokens
from oracle.agent.notes import Note, stronger
from oracle.agent.planning import message_characters
from oracle.agent.run import AgentRun
from oracle.classify.types import QueryClassification
from oracle.llm.tool_names import wire_name
from oracle.tools import Tool, all_reading, arguments_line, tools_for
from prompts import Environment, ToolEntry
from prompts import compose as compose_segments
from signals import NeedCapability

log = structlog.get_logger(__name__)

_composed = lru_cache(maxsize=128)(compose_segments)  # a pure function, and its result the larger part of a waiting run


def classify(run: AgentRun) -> QueryClassification:
    """Classify the question afresh, and offer the tools that it may need."""
    query, tools = run.query, run.equipment.tools
    question = query.question
    found = run.equipment.classified(question, query.encoded, query.previous)
    run.classification = found
    offered = tools_for(found.types, tools, sources=found.sources, question=question)
    run.look_first = tools_for(found.types, tools, question=question)
    run.offered = tuple(name for name in offered if name not in run.withheld) if run.withheld else offered
    log.debug("query.classified", query_type=found.query_type, confidence=found.confidence, tools=run.offered)
    return found


def compose(run: AgentRun) -> None:
    """Compose the system prompt; it stays the same once a request had it, because later requests must begin with it."""
    found = run.classification or classify(run)
    run.prompt = _composed(
        query_type=found.query_type,
        second_query_type=found.second_type,
        tools=tuple(tool_entry(tool) for name in run.offered if (tool := run.equipment.tools.get(name))),
        history_tokens=estimate_tokens(message_characters(run.query.history)),
        previous_errors=run.query.previous_errors,
        environment=environment(run),
        context_tokens=run.equipment.context_tokens(run.query.model),
        segments=run.equipment.segments,
    )
    if run.prompt.dropped:
        log.warning("prompt.segments_dropped", dropped=run.prompt.dropped, tokens=run.prompt.tokens)


def environment(run: AgentRun) -> Environment:
    """The environment of the query for the prompt; it changes once a day at most, or with the user's settings."""
    equipment = run.equipment
    return Environment(
        today=datetime.fromisoformat(equipment.timestamp()).date(),
        project=equipment.project,
        folders=equipment.folders,
        sources=tuple(dict.fromkeys(t.group for t in equipment.tools.tools if not (t.is_client_side or t.on_demand))),
        calls_per_turn=run.state.config.max_tool_calls_per_turn,
    )


def tool_entry(tool: Tool) -> ToolEntry:
    """A tool as the prompt lists it."""
    return ToolEntry(wire_name(tool.name), tool.when_to_use, arguments_line(tool.input_schema), tool.writes)


def may_be_supplied(run: AgentRun) -> bool:
    """Whether a reading tool that is not offered may supply what the model's last signal says that it lacks."""
    signal, tools = run.signals.latest, run.equipment.tools
    if not isinstance(signal, NeedCapability):
        return False
    lacked = f"{signal.capability}. {signal.reason}"
    fitting = tools_for((), tools, sources=run.equipment.classifier.sources_spoken_of(lacked), question=lacked)
    return not run.withheld.union(run.offered).issuperset(set(fitting).intersection(all_reading(tools)))


def offer_all_reading(run: AgentRun) -> tuple[str, ...]:
    """Offer every reading tool and note the new ones for the model; returns those."""
    return offer(run, all_reading(run.equipment.tools))


def offer(run: AgentRun, names: Iterable[str]) -> tuple[str, ...]:
    """Offer the tools of these names and tell the model which are new, by its prompt or in a note; returns those.

    They come after the tools that were offered before, and nothing is taken away: each change of the tools voids the
    provider's cache of the whole request, and what its thinking was bound to. Tools that this process does not have
    are left out, and so are those that are withheld. Before a turn whose calls are not run nothing is offered.
    """
    wanted = (name for name in dict.fromkeys(names) if run.equipment.tools.get(name) is not None)
    new = tuple(name for name in wanted if name not in run.offered and name not in run.withheld)
    before, run.offered = run.offered, (*run.offered, *new)
    if new and run.transcript.sent_messages and not run.will_run_tools():
        run.offered = before
        return ()
    if new and not _recomposed(run):
        entries = [tool_entry(tool) for name in new if (tool := run.equipment.tools.get(name))]
        listed = "; ".join(f"{entry.name}({entry.arguments}): {entry.when_to_use}" for entry in entries)
        run.note = stronger(run.note, Note("", offers=f"More tools are offered from now on: {listed}"))
    return new


def withhold(run: AgentRun, names: Iterable[str]) -> None:
    """Do not offer the tools of these names in this query.

    Once a request has had them they stay in the requests, because a change voids the provider's cache; the model is
    asked not to call them, and a call is refused.
    """
    run.withheld |= frozenset(names)
    taken = tuple(name for name in run.offered if name in run.withheld)
    if taken and run.transcript.sent_messages:
        run.add_note(f"Do not call these tools any more; they are not run: {', '.join(taken)}")
    elif taken:
        run.offered = tuple(name for name in run.offered if name not in run.withheld)
        _recomposed(run)


def _recomposed(run: AgentRun) -> bool:
    """Compose the prompt again for the tools that are offered now; false if a request had it already."""
    if run.transcript.sent_messages:
        return False
    if run.prompt is not None:
        compose(run)
    return True

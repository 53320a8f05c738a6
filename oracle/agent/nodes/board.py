"""The agent's blackboard keys: a declared projection of the run, for the expressions of its trees and for the console.

The run is the truth, the blackboard a flat copy of it. Each key names its reader here and what of the run it reads, and
`publish` writes the keys whose value has changed; nothing else writes them. The keys without a reader are the author's,
and the one by which decisions of people come.
"""

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import lru_cache
from math import floor
from operator import attrgetter, is_not
from typing import Any, Final, get_args

from bt_runtime import Blackboard, Key, TreeDefinition
from bt_runtime.text.data import dataclass
from oracle.agent.gathering import REASONS
from oracle.agent.people import People
from oracle.agent.run import AgentRun
from oracle.agent.steps import may_be_supplied
from oracle.classify.types import SIGNALS
from oracle.core.sources import QueryTypes, shipped_types
from oracle.decision import find_repetition
from oracle.llm.protocol import FaultKind

ANSWERS: Final = "answers"
"""The key by which decisions of people come."""
LIMIT_REACHED: Final = "limit_reached"
"""The key by which a limit comes that other queries of the user count against as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentKey(Key):
    """A key whose value is read from the run.

    Args:
        read: the value now, as JSON data of the key's type; must be cheap.
        of: the attributes of the run that `read` depends on, by dots; what they hold is replaced and never mutated, so
            the key is read again when one holds another object. Empty: it is read every time.
        on_demand: published only in runs of trees that name the key; its records then have the values, and no others.
    """

    read_only: bool = True
    read: Callable[[AgentRun], Any] = field(compare=False)
    of: tuple[str, ...] = field(default=(), compare=False)
    on_demand: bool = False


Reader = Callable[[AgentRun], Any]
Readers = tuple[tuple[str, Reader], ...]


def _text(name: str, description: str, read: Reader, *of: str) -> AgentKey:
    return AgentKey(name, "str", "", description, read=read, of=of)


def _one_of(values: tuple[str, ...], name: str, description: str, read: Reader, *of: str) -> AgentKey:
    """A text that is one of these values, or empty."""
    return AgentKey(name, "str", "", description, values=("", *values), read=read, of=of)


def _count(name: str, description: str, read: Reader, *of: str) -> AgentKey:
    return AgentKey(name, "int", 0, description, least=0, read=read, of=of)


def _flag(name: str, description: str, read: Reader, *of: str, default: bool = False) -> AgentKey:
    return AgentKey(name, "bool", default, description, read=read, of=of)


def _list(name: str, description: str, read: Reader, *of: str) -> AgentKey:
    return AgentKey(name, "list", (), description, read=read, of=of)


@lru_cache(maxsize=512)
def _sorted(names: frozenset[str]) -> tuple[str, ...]:
    """The same tuple for the same names, so that an unchanged value is recognized by identity."""
    return tuple(sorted(names))


def _repetitions(run: AgentRun) -> int:
    """How many rounds of the same calls with the same results the latest actions end with; 0 if fewer than two."""
    found = find_repetition(run.state.recent_actions, times=2)
    return found.times if found else 0


@lru_cache(maxsize=512)
def _untried(offered: tuple[str, ...], tried: frozenset[str]) -> tuple[str, ...]:
    """The tools that are offered and were never called."""
    return tuple(name for name in offered if name not in tried)


@lru_cache(maxsize=512)
def _distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    """Each name once; the same tuple for the same names."""
    return tuple(dict.fromkeys(names))


def _pending_writes(run: AgentRun) -> tuple[str, ...]:
    tools = (run.equipment.tools.get(call.name) for call in run.turn.open_calls)
    return _distinct(tuple(tool.name for tool in tools if tool is not None and tool.writes))


def _seconds_left(run: AgentRun) -> int:
    return max(0, floor(run.state.time_limit_s - max(0.0, run.now_s - run.state.start_time)))


def _untried_tools(run: AgentRun) -> tuple[str, ...]:
    return _untried(run.offered, run.state.tools_tried | run.withheld)


def _fault_kind(run: AgentRun) -> str:
    return run.turn.fault.kind if run.turn.fault else ""


def _suggestions(run: AgentRun) -> tuple[str, ...]:
    return tuple(getattr(run.signals.latest, "suggestions", None) or ())


def _of_signal(name: str, otherwise: Any) -> Reader:  # noqa: ANN401  JSON data
    """A reader of a field of the last turn's signal."""
    return lambda run: getattr(run.signals.latest, name, otherwise)


_TURN_LIMIT = "The limit of turns: the lower one of the user's and the tree's."
_MODEL_FAULT = "Why the provider failed in the last turn, if it did."
_EMPTY_TURNS = "Consecutive turns without text, tool calls or a usable signal."
_ANNOUNCEMENTS = "Consecutive responses that only announce what the model will do."
_ASKS_USER = "The last response ends with a question to the user and calls no tools."
_TOOL_CALLS = "How many tools the model called in the last turn."
_CUT_OFF = "The last response was truncated by its token limit."
_TOOLS_TRIED = "Names of the tools that were called."
_GROUPS_TRIED = "Groups of the tools that were called, such as `code` or `vault`."
_GROUPS_FOUND = "Tool groups in which something was found."
_DRY_TURNS = "Consecutive turns whose tools found nothing new."
_SUFFICIENT = "Why judge_context found the context sufficient; empty if it did not."
_REFUSED_CALLS = "Tool calls held back since something new was found."
_REPETITIONS = "How many times the latest calls repeat with the same results or the same error; 0 if fewer than two."
_ERRORS_IN_A_ROW = "Consecutive tool errors."
_UNTRIED = "Names of the offered tools not called yet."
_FAILED_TOOLS = "Names of the tools whose last call failed."
_EMPTY_SEARCHES = "Searches that found nothing."
_STRATEGIES = "Strategies of the fallback that were tried, in order."
_SINCE_STRATEGY = "Tool calls run since the last strategy of the fallback."
_PENDING_CALLS = "Tool calls of the last turn without a result: maps with `tool` and `arguments`."
_REFUSED_BY_PEOPLE = "Tool calls of the model that a person refused or nobody approved in time, repeated ones too."
_PENDING_WRITES = "Names of the tools in `pending_calls` that write."
_TIME_LIMIT = "The time limit of the run in seconds."
_SECONDS_LEFT = "Whole seconds left, as of the agent's last step."
_ANSWERS = "Answers and decisions of people, by the id of the question."
_LIMIT_REACHED = "The limit across several runs that the user has reached, in words; it ends the run."
_SUGGESTIONS = "What the last signal suggests to try next."
_MAY_BE_SUPPLIED = "A reading tool that is not offered may provide the `capability`."
_CONFIDENCE = "The model's confidence in that signal; 1 without a signal."

_SIGNAL = "signals.latest"
_GATHERED = "gathering.gathered"


def query_type_key(types: QueryTypes) -> AgentKey:
    """The key of the kind of question, in a domain with these types."""
    *most, last = types.needs
    described = f"{', '.join(most)} or {last}." if most else f"{last}."
    return _one_of(
        tuple(sorted(types.needs)),
        "query_type",
        described,
        lambda run: run.classification.query_type if run.classification else "",
        "classification",
    )


AGENT_KEYS: tuple[Key, ...] = (
    _text("question", "What the user asked.", lambda run: run.query.question, "query"),
    query_type_key(shipped_types()),
    Key("max_turns", "int", None, "The tree's own limit of turns; set it as the key's default.", read_only=True),
    _count("turn", "Finished turns.", lambda run: run.state.turn, "state"),
    _count("turn_limit", _TURN_LIMIT, lambda run: run.state.turn_limit, "state"),
    _count(
        "tokens_used", "Tokens used by this run, as the budget counts them.", lambda run: run.state.tokens_used, "state"
    ),
    _count("token_budget", "The user's token limit.", lambda run: run.state.config.token_budget, "state"),
    _flag("failed", "The provider failed in the last turn.", lambda run: run.turn.fault is not None, "turn.fault"),
    _count(
        "tool_calls", _TOOL_CALLS, lambda run: len(run.turn.outcome.calls) if run.turn.outcome else 0, "turn.outcome"
    ),
    _flag(
        "nothing_found",
        "The last tools that ran found nothing.",
        lambda run: run.turn.tools is not None and run.turn.tools.found_nothing,
        "turn.tools",
    ),
    _flag("cut_off", _CUT_OFF, lambda run: run.turn.outcome is not None and run.turn.outcome.cut_off, "turn.outcome"),
    _flag(
        "said_nothing",
        "The last turn had no visible text.",
        lambda run: run.turn.outcome is None or not run.turn.outcome.has_text,
        "turn.outcome",
        default=True,
    ),
    _count("empty_turns", _EMPTY_TURNS, lambda run: run.state.empty_turns, "state"),
    _flag(
        "asks_user",
        _ASKS_USER,
        lambda run: run.turn.outcome is not None and run.turn.outcome.asks_user(run.equipment.classifier),
        "turn.outcome",
    ),
    _flag("turn_left", "The limits allow another turn.", AgentRun.is_turn_left, "state", "turn.outcome", default=True),
    _one_of(SIGNALS, "signal", "Signal of the last turn; empty without one.", _of_signal("type", ""), _SIGNAL),
    AgentKey(
        "confidence", "float", 1.0, _CONFIDENCE, least=0, most=1, read=_of_signal("confidence", 1.0), of=(_SIGNAL,)
    ),
    _flag(
        "malformed_signal",
        "The last turn had an invalid signal.",
        lambda run: run.signals.malformed,
        "signals.malformed",
    ),
    _count(
        "turns_without_signal",
        "Consecutive turns without a signal.",
        lambda run: run.signals.turns_without,
        "signals.turns_without",
    ),
    _count("announcements", _ANNOUNCEMENTS, lambda run: run.signals.announcements, "signals.announcements"),
    _count(
        "same_reason",
        "How many times in a row `need_turn` gave the same reason.",
        lambda run: run.signals.same_reason,
        "signals.same_reason",
    ),
    _text("signal_reason", "The signal's reason.", _of_signal("reason", ""), _SIGNAL),
    _text("capability", "What a `need_capability` signal asks for.", _of_signal("capability", ""), _SIGNAL),
    _flag("may_be_supplied", _MAY_BE_SUPPLIED, may_be_supplied, _SIGNAL, "offered", "withheld"),
    _text("blocker", "What a `stuck` signal names as the obstacle.", _of_signal("blocker", ""), _SIGNAL),
    _list("suggestions", _SUGGESTIONS, _suggestions, _SIGNAL),
    _count("sources", "Sources found so far.", lambda run: len(run.output.sources)),
    _list("tools_tried", _TOOLS_TRIED, lambda run: _sorted(run.state.tools_tried), "state.tools_tried"),
    _one_of(
        SIGNALS,
        "intent",
        "The signal type that classify_response found.",
        lambda run: run.signals.intent.signal_type if run.signals.intent else "",
        "signals.intent",
    ),
    _list("groups_tried", _GROUPS_TRIED, lambda run: _sorted(run.state.sources_tried), "state.sources_tried"),
    _list("groups_found", _GROUPS_FOUND, lambda run: run.gathering.gathered.groups_found, _GATHERED),
    _count("dry_turns", _DRY_TURNS, lambda run: run.gathering.gathered.dry_turns, _GATHERED),
    _one_of(REASONS, "sufficient", _SUFFICIENT, lambda run: run.gathering.verdict.reason, "gathering.verdict"),
    _count("refused_calls", _REFUSED_CALLS, lambda run: run.gathering.refused_calls, "gathering.refused_calls"),
    _count("repetitions", _REPETITIONS, _repetitions, "state.recent_actions"),
    _count("errors_in_a_row", _ERRORS_IN_A_ROW, lambda run: run.state.error_streak, "state"),
    _list("untried_tools", _UNTRIED, _untried_tools, "offered", "withheld", "state.tools_tried"),
    _list("failed_tools", _FAILED_TOOLS, lambda run: run.gathering.gathered.failed_tools, _GATHERED),
    _list("empty_searches", _EMPTY_SEARCHES, lambda run: run.gathering.gathered.empty_searches, _GATHERED),
    _list("strategies_tried", _STRATEGIES, lambda run: run.gathering.strategies, "gathering.strategies"),
    _count(
        "calls_since_strategy",
        _SINCE_STRATEGY,
        lambda run: run.gathering.calls_since_strategy,
        _GATHERED,
        "gathering.calls_before",
    ),
    replace(_one_of(get_args(FaultKind), "model_fault", _MODEL_FAULT, _fault_kind), on_demand=True),
    AgentKey("pending_calls", "list", (), _PENDING_CALLS, read=lambda run: run.turn.calls_as_data(), on_demand=True),
    AgentKey("pending_writes", "list", (), _PENDING_WRITES, read=_pending_writes, on_demand=True),
    replace(_count("refused_by_people", _REFUSED_BY_PEOPLE, lambda run: run.part(People.of).refused), on_demand=True),
    AgentKey("time_limit", "float", 0.0, _TIME_LIMIT, least=0, read=lambda run: run.state.time_limit_s, on_demand=True),
    AgentKey("seconds_left", "int", 0, _SECONDS_LEFT, least=0, read=_seconds_left, on_demand=True),
    Key(ANSWERS, "map", None, _ANSWERS, read_only=True, deliverable=True),
    Key(LIMIT_REACHED, "str", "", _LIMIT_REACHED, read_only=True, deliverable=True),
    Key("hint", "str", "", "A note for the model's next turn; `llm_turn` empties it."),
)

_PUBLISHED = tuple(key for key in AGENT_KEYS if isinstance(key, AgentKey) and not key.on_demand)
_READERS: Readers = tuple((key.name, key.read) for key in _PUBLISHED)
_ON_DEMAND: Readers = tuple((key.name, key.read) for key in AGENT_KEYS if isinstance(key, AgentKey) and key.on_demand)
_READ_OF = tuple(dict.fromkeys(path for key in _PUBLISHED for path in key.of))
_read_of: Callable[[AgentRun], tuple[Any, ...]] = attrgetter(*_READ_OF)


@lru_cache(maxsize=512)
def _readers_of(changed: tuple[bool, ...]) -> Readers:
    """The readers of the keys that may have another value, in their order.

    Args:
        changed: for each of `_READ_OF` whether it holds another object.
    """
    paths = {path for path, is_changed in zip(_READ_OF, changed, strict=True) if is_changed}
    return tuple((key.name, key.read) for key in _PUBLISHED if not key.of or not paths.isdisjoint(key.of))


def demanded(definition: TreeDefinition) -> Readers:
    """The keys that are published because the files of the tree name them."""
    return _demanded_in(tuple(definition.texts.values()))


@lru_cache(maxsize=64)
def _demanded_in(texts: tuple[str, ...]) -> Readers:
    return tuple(reader for reader in _ON_DEMAND if any(reader[0] in text for text in texts))


def values_of(run: AgentRun, demanded: Readers = ()) -> Mapping[str, Any]:
    """The value of every key that is read from the run."""
    run.now_s = run.state.start_time
    return {name: read(run) for name, read in (*_READERS, *demanded)}


def publish(run: AgentRun, board: Blackboard, demanded: Readers = (), *, now_s: float = 0.0) -> None:
    """Write the keys whose value has changed since the last call.

    Args:
        board: the blackboard of the run of its tree.
        run: the query.
        demanded: further keys, which the tree names.
        now_s: the time of the tick.
    """
    before, board.read_of = board.read_of, _read_of(run)
    board.refresh(run, _readers_of(tuple(map(is_not, before, board.read_of))) if before else _READERS)
    if demanded:
        run.now_s = now_s
        board.refresh(run, demanded)

"""The automaton of each DECLARE template, with the semantics of linear temporal logic on finite traces (LTLf).

The definitions are those of Pesic and van der Aalst (DECLARE) and of De Giacomo and Vardi (LTLf), with three
refinements, because the events of a run are not activities of one kind:

- An event may be both of a template's events, such as `tool: any` and `tool: vault_write`. "Before" and "after" are
  strict: an event neither precedes nor follows itself.
- "Directly", "first of all" and "last of all" count only events of the types that the rule names: `chain_response` over
  two tool calls means the next tool call, whatever else happens between them.
- A run without any event of these types satisfies `init` and `last`.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache

from bt_runtime.language.rule import Template
from bt_runtime.language.rules.automaton import Automaton, Row, conjunction


def _automaton(*rows: Row, accepting: set[int]) -> Automaton:
    return Automaton(rows, frozenset(accepting))


def _at_most(times: int) -> Automaton:
    rows: list[Row] = [(count, count + 1, count, count + 1) for count in range(times + 1)]
    violated = times + 1
    return _automaton(*rows, (violated,) * 4, accepting=set(range(times + 1)))


def _at_least(times: int) -> Automaton:
    rows: list[Row] = [(count, count + 1, count, count + 1) for count in range(times)]
    return _automaton(*rows, (times,) * 4, accepting={times})


# The columns are the letters: neither event, the first one, the second one, both.
_INIT = _automaton((2, 1, 2, 1), (1, 1, 1, 1), (2, 2, 2, 2), accepting={0, 1})
_LAST = _automaton((1, 2, 1, 2), (1, 2, 1, 2), (1, 2, 1, 2), accepting={0, 2})
_RESPONDED_EXISTENCE = _automaton((0, 1, 2, 2), (1, 1, 2, 2), (2, 2, 2, 2), accepting={0, 2})
_CO_EXISTENCE = _automaton((0, 1, 2, 3), (1, 1, 3, 3), (2, 3, 2, 3), (3, 3, 3, 3), accepting={0, 3})
_NOT_CO_EXISTENCE = _automaton((0, 1, 2, 3), (1, 1, 3, 3), (2, 3, 2, 3), (3, 3, 3, 3), accepting={0, 1, 2})
_CHOICE = _automaton((0, 1, 1, 1), (1, 1, 1, 1), accepting={1})
_EXCLUSIVE_CHOICE = _automaton((0, 1, 2, 3), (1, 1, 3, 3), (2, 3, 2, 3), (3, 3, 3, 3), accepting={1, 2})
_RESPONSE = _automaton((0, 1, 0, 1), (1, 1, 0, 1), accepting={0})
_PRECEDENCE = _automaton((0, 1, 2, 2), (1, 1, 1, 1), (2, 2, 2, 2), accepting={0, 1})
_ALTERNATE_RESPONSE = _automaton((0, 1, 0, 1), (1, 2, 0, 1), (2, 2, 2, 2), accepting={0})
_ALTERNATE_PRECEDENCE = _automaton((0, 1, 2, 2), (1, 1, 0, 0), (2, 2, 2, 2), accepting={0, 1})
_CHAIN_RESPONSE = _automaton((0, 1, 0, 1), (2, 2, 0, 1), (2, 2, 2, 2), accepting={0})
_CHAIN_PRECEDENCE = _automaton((0, 1, 2, 2), (0, 1, 0, 1), (2, 2, 2, 2), accepting={0, 1})
_NOT_SUCCESSION = _automaton((0, 1, 0, 1), (1, 1, 2, 2), (2, 2, 2, 2), accepting={0, 1})
_NOT_CHAIN_SUCCESSION = _automaton((0, 1, 0, 1), (0, 1, 2, 2), (2, 2, 2, 2), accepting={0, 1})

_AUTOMATA: Mapping[Template, Callable[[int], Automaton]] = {
    "absence": lambda _times: _at_most(0),
    "existence": _at_least,
    "exactly": lambda times: Automaton(_at_most(times).rows, frozenset({times})),
    "at_most": _at_most,
    "init": lambda _times: _INIT,
    "last": lambda _times: _LAST,
    "responded_existence": lambda _times: _RESPONDED_EXISTENCE,
    "co_existence": lambda _times: _CO_EXISTENCE,
    "not_co_existence": lambda _times: _NOT_CO_EXISTENCE,
    "choice": lambda _times: _CHOICE,
    "exclusive_choice": lambda _times: _EXCLUSIVE_CHOICE,
    "response": lambda _times: _RESPONSE,
    "precedence": lambda _times: _PRECEDENCE,
    "succession": lambda _times: conjunction(_RESPONSE, _PRECEDENCE),
    "alternate_response": lambda _times: _ALTERNATE_RESPONSE,
    "alternate_precedence": lambda _times: _ALTERNATE_PRECEDENCE,
    "alternate_succession": lambda _times: conjunction(_ALTERNATE_RESPONSE, _ALTERNATE_PRECEDENCE),
    "chain_response": lambda _times: _CHAIN_RESPONSE,
    "chain_precedence": lambda _times: _CHAIN_PRECEDENCE,
    "chain_succession": lambda _times: conjunction(_CHAIN_RESPONSE, _CHAIN_PRECEDENCE),
    "not_succession": lambda _times: _NOT_SUCCESSION,
    "not_chain_succession": lambda _times: _NOT_CHAIN_SUCCESSION,
}


@lru_cache(maxsize=256)
def automaton_of(template: Template, times: int = 1) -> Automaton:
    """The automaton of a template.

    Args:
        template: its name.
        times: how often its event happens, for the templates that count.
    """
    return _AUTOMATA[template](times)

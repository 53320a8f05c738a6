"""The trees of the gallery: versions of shipped ones, a wide one, a long one, and one with mistakes."""

import trees

TOPICS = (
    *("billing", "refunds", "shipping", "returns", "accounts", "passwords", "privacy"),
    *("outages", "invoices", "contracts", "warranty", "onboarding", "feedback", "escalation"),
)
_CASES = ("late", "lost", "damaged", "double", "foreign", "gift")


STRATEGY = "- condition: turn_left"
"""The line of the shipped fallback that allows another strategy."""
THRIFTY_STRATEGY = f"{STRATEGY} and tokens_used < 0.4 * token_budget"


def shipped(name: str) -> str:
    return (trees.FOLDER / f"{name}.yaml").read_text(encoding="utf-8")


def changed(name: str, old: str, new: str) -> str:
    """A shipped tree, in which one place is different."""
    text = shipped(name)
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {name}.yaml"
    return text.replace(old, new)


def thrifty_fallback() -> str:
    """A fallback that tries another approach only while less than 40 % of the tokens are used."""
    return changed("fallback", STRATEGY, THRIFTY_STRATEGY)


def risky_follow_signal() -> str:
    """A copy with a mistake that only a run shows: nobody writes `risk`, and null has no order."""
    key = "blackboard:\n  risk:\n    type: float\n    description: How dangerous the change is, from 0 to 1.\n\nroot:\n"
    branch = """\
  selector:
    # A risky change is not for the agent alone.
    - sequence:
        name: hand_over
        children:
          - condition: risk > 0.7 and query_type == "action"
          - notify: { topic: delegation_recommended, severity: warning, message: "This change needs a person." }
          - stop: completed

"""
    return changed("follow_signal", "root:\n  selector:\n", key + branch)


def desk() -> str:
    """A support desk: fourteen topics are asked in each turn, then the shipped control goes on."""
    asked = "".join(f"                      - subtree: {name}\n" for name in TOPICS)
    return f"""\
tree: desk
description: The support desk. One branch per topic, and the shipped control after it.
root:
  finally:
    child:
      sequence:
        - classify_query
        - compose_prompt
        - loop:
            name: turns
            until: termination_reason
            guards: [cancelled, turn_budget, token_budget, deadline, no_progress, error_limit]
            child:
              sequence:
                - warn_near_limits
                - llm_turn
                # Whose turn is it? The first topic that takes it leaves a hint for the model.
                - force_success:
                    selector:
{asked}\
                - selector:
                    name: after_turn
                    children:
                      - subtree: use_tools
                      - subtree: continue_answer
                      - subtree: follow_signal
    then:
      sequence: [explain_stop, finish]
"""


def topic(name: str) -> str:
    """A topic of the desk, of some thirty nodes."""
    number = TOPICS.index(name)
    cases = "".join(
        f"""\
        - sequence:
            name: {case}
            children:
              - condition: contains(lower(question), "{case}") and turn % 2 == {at % 2}
              - set: {{ hint: "'Look it up in the notes on {case} {name}.'" }}
"""
        for at, case in enumerate(_CASES)
    )
    last = "true" if name == TOPICS[-1] else f'turn % {len(TOPICS)} == {number} or startswith(question, "{name}")'
    return f"""\
tree: {name}
description: What is special about {name}. Fails where it is not about that.
internal: true
root:
  sequence:
    - condition: '{last}'
    - selector:
{cases}\
        - set: {{ hint: "'Look it up in the notes on {name}.'" }}
"""


def long(ticks: int) -> str:
    """A tree that ticks so often, without the model."""
    return f"""\
tree: long
description: Counts, tick by tick.
blackboard:
  round: {{ type: int, default: 0 }}
root:
  finally:
    child:
      loop:
        name: rounds
        until: termination_reason
        guards: [cancelled, deadline]
        child:
          sequence:
            - wait: 0.001
            - set: {{ round: round + 1 }}
            - selector:
                - condition: round % 7 == 0
                - condition: round % 2 == 0
                - condition: round > 0
            - if:
                when: round >= {ticks // 2}
                then:
                  sequence: [{{ say: It was long. }}, {{ stop: completed }}]
    then:
      sequence: [explain_stop, finish]
"""


def wide(ticks_per_s: int, rounds: int) -> str:
    """A tree of some 400 nodes that all tick, so many times a second."""
    branches = "".join(
        f"""\
                - sequence:
                    name: branch_{number}
                    children:
                      - condition: round >= {-number}
                      - selector:
                          - condition: (round + {number}) % 3 == 0
                          - condition: round > 0 and not cut_off
"""
        for number in range(79)
    )
    return f"""\
tree: wide
description: All of its nodes tick, many times a second.
blackboard:
  round: {{ type: int, default: 0 }}
root:
  finally:
    child:
      loop:
        until: termination_reason
        guards: [cancelled, deadline]
        child:
          sequence:
            - wait: {1 / ticks_per_s}
            - set: {{ round: round + 1 }}
            - sequence:
                name: branches
                children:
{_indented(branches)}\
            - if:
                when: round >= {rounds}
                then:
                  sequence: [{{ say: It is wide. }}, {{ stop: completed }}]
    then:
      sequence: [explain_stop, finish]
"""


def _indented(text: str) -> str:
    return "".join(f"    {line}" for line in text.splitlines(keepends=True))


STRICT = """\
tree: strict
description: The shipped flow under stricter limits.
blackboard:
  max_turns: { type: int, default: 4, description: No question is worth more turns. }
root:
  finally:
    child:
      sequence:
        - classify_query
        - compose_prompt
        - loop:
            name: turns
            until: termination_reason
            guards: [cancelled, turn_budget, token_budget, deadline, no_progress, error_limit]
            child:
              sequence:
                - warn_near_limits
                - llm_turn
                - selector:
                    name: after_turn
                    children:
                      - subtree: use_tools
                      - subtree: continue_answer
                      - subtree: follow_signal
    then:
      sequence: [explain_stop, finish]
"""

TRIAGE = """\
tree: triage
description: Sorts what comes in and hands over what is risky.
root:
  sequence:
    - classify_query
    - compose_prompt
    - llm_turn
    - selector:
        children:
          - condition: query_type == "action"
          - condition: query_type != "action"
    - stop: completed
    - explain_stop
    - finish
"""
BROKEN_TRIAGE = TRIAGE.replace("        children:\n", "        childs:\n")
"""The same file after an edit by hand."""

CAREFUL = """\
tree: careful
description: The model may write notes; each one needs a person.
root:
  finally:
    child:
      sequence:
        - classify_query
        - force_success: { offer_tools: [vault_write] }
        - compose_prompt
        - loop:
            until: termination_reason
            guards: [cancelled, turn_budget, token_budget, deadline]
            child:
              sequence:
                - llm_turn
                - if:
                    when: tool_calls > 0
                    then: { run_tools: { approve: [vault_write], expires: 2d } }
                    else: { stop: completed }
    then: { sequence: [explain_stop, finish] }
"""
GUARDED = """\
tree: guarded
description: After untrusted text was read, a ticket is closed only with an approval.
rules:
  - name: nothing_leaks
    text: After untrusted text was read, nothing is sent without an approval.
    no_flow: { from: untrusted, to: outward, unless: approved }
    enforce: refuse
root:
  finally:
    child:
      sequence:
        - classify_query
        - force_success: { offer_tools: [tickets.search, tickets.close_ticket] }
        - compose_prompt
        - loop:
            until: termination_reason
            guards: [cancelled, turn_budget, token_budget, deadline]
            child:
              sequence:
                - llm_turn
                - if:
                    when: tool_calls > 0
                    then: run_tools
                    else: { stop: completed }
    then: { sequence: [explain_stop, finish] }
"""
GUARDED_ASKING = GUARDED.replace(
    "then: run_tools", "then: { run_tools: { approve: [{ tool: '*', writes: outward, after: untrusted }] } }"
)
"""A person decides about what the rule would refuse."""
ASKING = """\
tree: asking
description: Asks for the branch.
blackboard:
  branch: { type: str, default: "" }
root:
  finally:
    child:
      sequence:
        - classify_query
        - compose_prompt
        - ask_user: { question: "Which branch is meant?", options: [main, release], into: branch }
        - note: "The user means the branch {branch}."
        - llm_turn: { tools: false }
        - stop: completed
    then: { sequence: [explain_stop, finish] }
"""

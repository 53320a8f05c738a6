"""An update rewrites what does not hold, and nothing else: comments and form stay."""

from oracle.features.scenarios.files import from_yaml
from oracle.features.scenarios.judging import judge
from oracle.features.scenarios.suites import updated
from tests.oracle.features.scenarios.playing import player

BEFORE = """\
# head
scenarios:
  - name: A   # the name
    model: [{ text: One., signal: need_turn }, Two.]
    expect:
      # why
      reason: stuck   # wrong
      turns: 7 # also
      notices:   # none really
        - stuck
        # after
      answer: |
        Wrong.
        Quite.
      # between
      requests:
        - { note: x }    # first
        - { sends: Continue. }
      visited: [{ llm_turn: 9 }, finish]
      not_visited: [finish, fallback]
      chunks:
        - content: a
        - done: stuck
      # tail
  - name: B
    model: [A.]
    expect: { reason: stuck, answer: { contains: B } } # end
  - name: C
    model: [A.]
    expect: { reason: completed, answer: { contains: "A" } }
"""
AFTER = """\
# head
scenarios:
  - name: A   # the name
    model: [{ text: One., signal: need_turn }, Two.]
    expect:
      # why
      reason: completed   # wrong
      turns: 2 # also
      notices:   # none really
        []
        # after
      answer: "One.\\n\\nTwo."
      # between
      requests:
        - { note: "" }    # first
        - { sends: Continue. }
      visited: [{ llm_turn: 2 }, finish]
      not_visited: [fallback]
      chunks:
        - content: "One.\\n\\nTwo."
        - done: completed
      # tail
  - name: B
    model: [A.]
    expect: { reason: completed, answer: A. } # end
  - name: C
    model: [A.]
    expect: { reason: completed, answer: { contains: "A" } }
"""


def verdicts_on(text):
    return [judge(scenario, player().play(scenario)) for scenario in from_yaml(text)]


def test_an_update_keeps_comments_and_what_holds():
    assert updated(BEFORE, verdicts_on(BEFORE)) == AFTER


def test_an_updated_file_passes_and_is_not_updated_again():
    after = verdicts_on(AFTER)
    assert all(verdict.passed for verdict in after)
    assert updated(AFTER, after) == AFTER


def test_longer_lists_are_written_in_the_form_of_the_file():
    text = """\
scenarios:
  - name: A
    limits: { max_iterations: 1 }
    model: [{ text: One., signal: need_turn }]
    expect:
      notices:
        - stuck
        - stuck
      signals: []
"""
    after = updated(text, verdicts_on(text))
    assert "        - {limit_reached: Maximum iterations reached (1/1). Saving partial response.}\n" in after
    assert "      signals: [{need_turn: another_turn}]\n" in after
    assert all(verdict.passed for verdict in verdicts_on(after))


def test_what_holds_for_every_query_cannot_be_updated_away():
    text = "scenarios: [{ name: A, model: [One., Two.], expect: { turns: 3 } }]"
    after = updated(text, verdicts_on(text))
    assert "turns: 1" in after
    assert not verdicts_on(after)[0].passed


def test_a_file_that_can_be_played_can_be_updated():
    """The parser in Python refuses a question mark here, which the one in C reads as text."""
    text = """scenarios:
  - { name: A, model: [{ text: Which one?, signal: partial_answer }], expect: { reason: stuck } }
"""
    verdicts = [judge(scenario, player().play(scenario)) for scenario in from_yaml(text)]
    assert updated(text, verdicts) == text.replace("reason: stuck", "reason: completed")

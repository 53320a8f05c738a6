import pytest

from bt_runtime.text import estimate_tokens


@pytest.mark.parametrize(("characters", "tokens"), [(0, 0), (1, 1), (4, 1), (5, 2), (32_000, 8_000)])
def test_decision_06_an_estimate_is_a_quarter_of_the_characters_rounded_up(characters, tokens):
    assert estimate_tokens(characters) == tokens

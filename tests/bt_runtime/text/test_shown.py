import pytest

from bt_runtime.text import brief


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "null"),
        ([True, None, "a\n"], r"[true, null, 'a\n']"),
        ("x" * 58, f"'{'x' * 58}'"),
        ("x" * 59, f"'{'x' * 27}...{'x' * 28}'"),
        (10**39, f"1{'0' * 39}"),
        (10**40, f"1{'0' * 17}...{'0' * 19}"),
        ([[[[1]]]], "[[[[...]]]]"),
    ],
    ids=["null", "list", "text", "long text", "number", "long number", "nested"],
)
def test_a_value_is_shown_as_tree_files_spell_it_and_shortened_in_the_middle(value, shown):
    assert brief(value) == shown

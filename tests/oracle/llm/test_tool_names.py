"""Names of tools on the provider's wire: valid, never two for one, and read back."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.llm.tool_names import own_name, own_names, wire_name

NAMES = st.one_of(
    st.from_regex(r"[A-Za-z0-9_-]{1,70}", fullmatch=True),
    st.from_regex(r"[a-z][a-z0-9-]{0,31}\.[A-Za-z0-9_./-]{1,96}", fullmatch=True),
    st.from_regex(r"[ab_]{1,4}(\.|__)[ab_]{1,4}", fullmatch=True),
    st.from_regex(r"[ab]{1,3}__x[0-9a-f]{16}", fullmatch=True),
    st.text(min_size=1, max_size=80),
)


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("search_code", "search_code"),
        ("get-place", "get-place"),
        ("mcp__github__search", "mcp__github__search"),
        ("tickets.search", "tickets__search"),
        ("my-server.get_one-of", "my-server__get_one-of"),
    ],
)
def test_names_that_fit_stay_readable(name, written):
    assert wire_name(name) == written
    assert own_name(written, {}) == name


@pytest.mark.parametrize("name", ["a.b/c", "a.b.c", "a._b", "a." + "b" * 80, "a__b", "ü", "a.x0123456789abcdef"])
def test_other_names_have_a_digest_and_are_read_back_where_they_are_offered(name):
    written = wire_name(name)
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,44}__x[0-9a-f]{16}", written)
    assert own_name(written, own_names([name])) == name


@given(st.lists(NAMES, max_size=12, unique=True))
def test_no_two_names_are_one_and_each_is_read_back(names):
    written = [wire_name(name) for name in names]
    assert len(set(written)) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", each) for each in written)
    offered = own_names(names)
    assert [own_name(each, offered) for each in written] == names

"""The kinds of databases for the tests of what stands on the store."""

import pytest

DATABASES = [
    "sqlite",
    pytest.param("postgresql", marks=pytest.mark.long("the tests of the store itself show what differs in PostgreSQL")),
]
"""Names for `params`; the tests of the store run on both."""
on_both_databases = pytest.mark.parametrize("database", DATABASES, indirect=True)
"""A test whose fixture `database` is of each kind."""

"""Numbers by which runs and conversations are ordered: each is greater than those given before, whatever clocks say."""

from sqlalchemy import Connection, text

_COUNT_ON = text(
    "SELECT max(coalesce((SELECT max(n) FROM run), 0), coalesce((SELECT max(n) FROM conversation), 0)) + 1"
)
_FROM_SEQUENCE = text("SELECT nextval('order_of_use')")


def next_number(connection: Connection) -> int:
    """The next number. With several workers runs that begin at the same moment may be numbered either way round."""
    is_sqlite = connection.dialect.name == "sqlite"  # one writer: nobody else counts on at the same time
    return int(connection.execute(_COUNT_ON if is_sqlite else _FROM_SEQUENCE).scalar_one())

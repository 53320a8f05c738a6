"""Statements that every run executes: compiled once for each database, and passed directly to its driver.

From a compiled statement to the driver and back SQLAlchemy takes 60 to 100 µs of CPU, the driver itself 5 to 10. All
other statements go through SQLAlchemy.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Executable, Insert, Table

from oracle.runs.storage.dialect import Dialect

_Convert = Callable[[Any], Any]


class _Compiled(NamedTuple):
    """A statement in one database's words.

    Args:
        sql: its text.
        names: its parameters, in their order.
        is_positional: whether they are given in that order, and not by name.
        binds: what makes the driver's value of a parameter, where it takes another one than the column.
        results: the same for the columns of a row, by their places.
    """

    sql: str
    names: Sequence[str]
    is_positional: bool
    binds: Mapping[str, _Convert]
    results: Sequence[tuple[int, _Convert]]

    def values(self, parameters: Mapping[str, Any]) -> Sequence[Any] | Mapping[str, Any]:
        """The parameters as the driver takes them."""
        binds = self.binds
        given = {name: binds[name](parameters[name]) if name in binds else parameters[name] for name in self.names}
        return [given[name] for name in self.names] if self.is_positional else given


class Prepared:
    """One statement, executed in the transaction of a connection that has begun one.

    Errors are the driver's own; `Database` tells them apart as it does SQLAlchemy's.

    Args:
        statement: a bound parameter for each of its values, and no list of them (`IN`).
        sets: the columns that an `INSERT` or `UPDATE` writes, beside those whose values it has already.
    """

    def __init__(self, statement: Executable, *, sets: Iterable[str] = ()) -> None:
        self._statement: Any = statement
        self._sets = list(sets)
        self._compiled: dict[str, _Compiled] = {}

    @property
    def columns(self) -> Sequence[str]:
        """The columns that it writes."""
        return self._sets

    def first(self, connection: Connection, parameters: Mapping[str, Any]) -> Sequence[Any] | None:
        """Execute it, and return its first row; `None` if there is none."""
        found = self._of(connection)
        row: Sequence[Any] | None = _driver(connection).execute(found.sql, found.values(parameters)).fetchone()
        if row is None or not found.results:
            return row
        values = list(row)
        for at, convert in found.results:
            values[at] = convert(values[at])
        return values

    def run(self, connection: Connection, parameters: Mapping[str, Any]) -> int:
        """Execute it, and return the number of rows that it has written."""
        found = self._of(connection)
        written: int = _driver(connection).execute(found.sql, found.values(parameters)).rowcount
        return written

    def run_each(self, connection: Connection, rows: Iterable[Mapping[str, Any]]) -> None:
        """Execute it once for each of the rows."""
        found = self._of(connection)
        _driver(connection).cursor().executemany(found.sql, [found.values(row) for row in rows])

    def _of(self, connection: Connection) -> _Compiled:
        name = connection.dialect.name
        found = self._compiled.get(name)
        if found is None:
            found = self._compiled[name] = self._compile(connection)
        return found

    def _compile(self, connection: Connection) -> _Compiled:
        dialect = connection.dialect
        compiled: Any = self._statement.compile(dialect=dialect, column_keys=self._sets or None)
        binds = {name: bind.type.dialect_impl(dialect).bind_processor(dialect) for name, bind in compiled.binds.items()}
        columns = enumerate(getattr(self._statement, "selected_columns", ()))
        results = ((at, column.type.dialect_impl(dialect).result_processor(dialect, None)) for at, column in columns)
        return _Compiled(
            sql=str(compiled),
            names=compiled.positiontup or list(binds),
            is_positional=compiled.positional,
            binds={name: convert for name, convert in binds.items() if convert is not None},
            results=[(at, convert) for at, convert in results if convert is not None],
        )


class PreparedInsert:
    """An insert of whole rows that leaves a row alone that is there already (`Dialect.insert`)."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._of: dict[bool, Prepared] = {}

    def run(self, connection: Connection, dialect: Dialect, row: Mapping[str, Any]) -> int:
        """Execute it, and return 1 if the row was not there, else 0."""
        found = self._of.get(dialect.is_shared)
        if found is None:
            insert: Insert = dialect.insert(self._table)
            found = self._of[dialect.is_shared] = Prepared(insert, sets=self._table.c.keys())
        return found.run(connection, row)


def _driver(connection: Connection) -> Any:  # noqa: ANN401  sqlite3's or psycopg's
    return connection.connection.driver_connection

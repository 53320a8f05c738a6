"""How a database gets the tables of `oracle.runs.storage.schema`."""

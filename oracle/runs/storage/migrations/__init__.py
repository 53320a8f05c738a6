"""How older databases become what `oracle.runs.storage.schema` says."""

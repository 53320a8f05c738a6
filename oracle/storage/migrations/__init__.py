"""How older databases become what `oracle.storage.schema` says."""

"""Trees that change while the service runs: reloading them, and comparing two versions."""

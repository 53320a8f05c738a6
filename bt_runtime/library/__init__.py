"""Trees by name, from folders."""

"""Checks of trees that load without errors: control flow that runs, but is probably not what the author meant."""

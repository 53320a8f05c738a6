"""Reads `parcel.toml`."""


def load_options(path):
    """All options of the configuration, with their defaults."""

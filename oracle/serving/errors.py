"""What keeps a service from listening."""


class ServingError(Exception):
    """The service cannot listen where it was told to; the message says what would be right."""

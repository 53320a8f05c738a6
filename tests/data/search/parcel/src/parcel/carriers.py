"""The registry of carriers."""

CARRIERS = {}


class Carrier:
    """What a carrier can do."""

    def quote(self, consignment):
        """The price for a consignment, in cents."""
        raise NotImplementedError

    def book(self, consignment):
        raise NotImplementedError


def register(name):
    """Add a carrier of your own under a name."""

    def add(kind):
        CARRIERS[name] = kind
        return kind

    return add


def add_carrier_to_cache(cache, carrier):
    """Add the own carrier to a cache."""
    cache[carrier] = carrier

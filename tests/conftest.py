"""What holds for all tests."""

from hypothesis import HealthCheck, settings

# `make test` tries a few examples of each property, `make check` as many as hypothesis does by itself. A busy machine
# and a large example are no mistakes of the code. The rest is as hypothesis has it, with its own settings for CI.
_OURS = settings(settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
settings.register_profile("whole", _OURS)
settings.register_profile("brief", _OURS, max_examples=20)
settings.load_profile("brief")

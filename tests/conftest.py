"""What holds for all tests."""

from hypothesis import HealthCheck, settings

# A busy machine is no mistake of the code. The rest is as hypothesis has it, with its own settings for CI.
settings.register_profile("unhurried", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")

"""What holds for all tests."""

import gc
import os
from collections.abc import Generator
from pathlib import Path

import pytest
import structlog
from hypothesis import HealthCheck, settings

gc.disable()  # until all tests are collected
pytest_plugins = ["tests.support.cost", "pytester"]

# `make test` tries a few examples of each property, `make check` more, and `make soak` as many as hypothesis does by
# itself (in CI always the same ones). A busy machine and a large example are no mistakes of the code. The rest is as
# hypothesis has it, with its own settings for CI.
_OURS = settings(settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
settings.register_profile("whole", _OURS)
settings.register_profile("check", _OURS, max_examples=40)
settings.register_profile("brief", _OURS, max_examples=20)
settings.load_profile("brief")

# A key or a setting of whoever runs the tests is not for the tests: none reaches a vendor, or depends on a folder.
for name in [name for name in os.environ if name.startswith(("ORACLE_", "ANTHROPIC_")) and "_TEST_" not in name]:
    del os.environ[name]
# The weights are installed for the tests of the encoder; every other service in a test would load them as well.
os.environ["ORACLE_ENCODER"] = "off"
# No test reaches the internet: none needs the certificates of its authorities, which each client would read for 20 ms.
os.environ.pop("SSL_CERT_FILE", None)
os.environ["SSL_CERT_DIR"] = str(Path(__file__).parent)


@pytest.fixture(autouse=True)
def same_environment():
    """What a test or the product's reading of an `.env` file puts into the environment ends with the test.

    It is set up before `monkeypatch` and so ends after it: undoing brings back a variable that the test had deleted.
    """
    before = dict(os.environ)
    yield
    for name in set(os.environ) - set(before):
        del os.environ[name]
    os.environ.update({name: value for name, value in before.items() if os.environ.get(name) != value})


@pytest.fixture(autouse=True)
def same_logging():
    """The logging that a command sets up for its process ends with the test, and with the fixture of a module.

    Its level would stay, and `capture_logs` of a later test would capture nothing below it.
    """
    structlog.reset_defaults()
    yield
    structlog.reset_defaults()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is loaded is there to the end: nothing of it is garbage, and full collections need not look at it again."""
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()

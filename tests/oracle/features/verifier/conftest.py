"""The explorations of these tests, in silence as under `oracle trees verify`.

An exploration has queries fail by the thousand, and a traceback of each takes minutes.
"""

import logging

import pytest
import structlog


def be_silent() -> None:
    """Log nothing but what is critical."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))


@pytest.fixture(scope="module", autouse=True)
def no_log_of_fixtures():
    """Nothing is logged by what a module sets up for all its tests."""
    be_silent()


@pytest.fixture(autouse=True)
def no_log(same_logging):
    """Nothing is logged by a test."""
    be_silent()

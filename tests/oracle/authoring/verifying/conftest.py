"""The explorations of these tests, in silence as under `oracle trees verify`."""

import logging

import pytest
import structlog


@pytest.fixture(autouse=True)
def no_log(same_logging):
    """Nothing is logged: an exploration has queries fail by the thousand, and a traceback of each takes minutes."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))

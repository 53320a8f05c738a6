"""No test configures logging, and structlog's own default prints every traceback."""

import pytest
import structlog


@pytest.fixture(autouse=True, scope="package")
def _quiet():
    before = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50), cache_logger_on_first_use=False)
    yield
    structlog.configure(**before)

"""docs/connecting.md: its settings, headers and metrics are the product's, and what it configures can be read."""

import json
import re
from pathlib import Path

import pytest
import yaml

from oracle.core.metrics import Metrics
from oracle.server.settings.fields import Settings
from oracle.server.settings.table import settings_table

PAGE = (Path(__file__).parents[1] / "docs" / "connecting.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(set(re.findall(r"\bORACLE_[A-Z_]+", PAGE)) - {"ORACLE_KEY"}))
def test_every_setting_exists(name):
    assert name in {row.name for row in settings_table()}


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`(oracle_[a-z_]+)`", PAGE))))
def test_every_metric_exists(name):
    metrics = Metrics()
    metrics.auxiliary_answered("title", "known", tokens=1)
    assert re.search(rf"^{name}[ {{]", metrics.exposition().decode(), re.MULTILINE)


def test_the_headers_of_the_products_are_those_that_are_read():
    settings = Settings()
    known = {*settings.conversation_headers, *settings.task_headers}
    assert set(re.findall(r"\bX-[A-Za-z-]+\b", PAGE)) <= known
    found = re.search(r"^Headers +(\{.+\})$", PAGE, re.MULTILINE)
    assert found is not None
    assert json.loads(found[1]).keys() <= known


def test_the_configuration_of_librechat_is_yaml():
    [text] = re.findall(r"```yaml\n(.+?)```", PAGE, re.DOTALL)
    [endpoint] = yaml.safe_load(text)["endpoints"]["custom"]
    assert endpoint["headers"].keys() <= {*Settings().conversation_headers}

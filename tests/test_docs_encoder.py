"""docs/encoder.md: states, log events and metrics exist, and its bounds are those of the code."""

import re
import tomllib
from pathlib import Path
from typing import get_args

import pytest

from oracle.core.metrics import Metrics
from oracle.features.encoder.loading import DIGESTS, INSTALL, KINDS, MODEL, MOST_TOKENS, PACKAGES, REVISION
from oracle.features.encoder.thread import PATIENCE_S, REST_S, SLOW_IN_A_ROW, EncodedOutcome
from oracle.classify.protocol import EncoderState

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "encoder.md").read_text(encoding="utf-8")
THREAD = (ROOT / "oracle" / "features" / "encoder" / "thread.py").read_text(encoding="utf-8")


def test_every_state_but_off_is_documented():
    (table,) = re.findall(r"^\| state \|.*?(?=\n\n)", PAGE, re.MULTILINE | re.DOTALL)
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == set(get_args(EncoderState)) - {"off"}


def test_the_documented_events_are_logged_and_no_others():
    logged = set(re.findall(r'log\.\w+\("(encoder\.\w+)"', THREAD))
    assert set(re.findall(r"`(encoder\.\w+)`", PAGE)) == logged - {"encoder.text_failed"}


def test_the_documented_metrics_exist():
    metrics = Metrics()
    metrics.watch_encoder(lambda: True)
    for kind in KINDS:
        for outcome in get_args(EncodedOutcome):
            metrics.text_encoded(kind, outcome, 0.01)
            assert f"`{outcome}`" in PAGE
        assert f"`{kind}`" in PAGE
    told = metrics.exposition().decode()
    for name in re.findall(r"`(oracle_encoder_\w+)`", PAGE):
        assert name in told


def test_the_documented_bounds_are_the_bounds():
    assert f"longer than {PATIENCE_S * 1000:.0f} ms" in PAGE
    assert f"after {REST_S:.0f} s" in PAGE
    assert SLOW_IN_A_ROW == 3
    assert "three texts in a row" in PAGE
    assert f"the last {MOST_TOKENS // 2} tokens" in PAGE


def test_the_installation_is_that_of_the_message_and_of_the_project():
    assert INSTALL in PAGE
    extra = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["encoder"]
    assert sorted(each.partition(">=")[0] for each in extra) == sorted(PACKAGES)
    for name in PACKAGES:
        assert name in PAGE


@pytest.mark.parametrize("name", DIGESTS)
def test_the_files_of_the_model_are_documented_with_their_digests(name):
    assert f"| `{name}` | `{DIGESTS[name]}` |" in PAGE


def test_the_model_is_named_and_no_package_that_carries_it():
    assert f"[{MODEL}](https://huggingface.co/{MODEL}), revision\n`{REVISION}`" in PAGE
    for path in ("docs/encoder.md", "Containerfile", "oracle/features/encoder/loading.py"):
        assert "gt-all" not in (ROOT / path).read_text(encoding="utf-8").replace("_", "-")

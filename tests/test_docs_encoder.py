"""The encoder in the pages on models and classification: states, events, digests and installation are the code's."""

import re
import tomllib
from pathlib import Path
from typing import get_args

import pytest

from oracle.classify.protocol import EncoderState
from oracle.features.encoder.loading import DIGESTS, INSTALL, MODEL, PACKAGES, REVISION

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "internals" / "classification.md").read_text(encoding="utf-8")
USERS_PAGE = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
THREAD = (ROOT / "oracle" / "features" / "encoder" / "thread.py").read_text(encoding="utf-8")


def test_every_state_but_off_is_documented():
    (table,) = re.findall(r"^\| state \|.*?(?=\n\n)", PAGE, re.MULTILINE | re.DOTALL)
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == set(get_args(EncoderState)) - {"off"}


def test_the_documented_events_are_logged_and_no_others():
    logged = set(re.findall(r'log\.\w+\("(encoder\.\w+)"', THREAD))
    assert set(re.findall(r"`(encoder\.\w+)`", PAGE)) == logged - {"encoder.text_failed"}


def test_the_installation_is_that_of_the_message_and_of_the_project():
    assert INSTALL in USERS_PAGE
    assert f"hf download {MODEL} {' '.join(DIGESTS)} --local-dir" in USERS_PAGE
    extra = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["encoder"]
    assert sorted(each.partition(">=")[0] for each in extra) == sorted(PACKAGES)
    for name in PACKAGES:
        assert name in PAGE


@pytest.mark.parametrize("name", DIGESTS)
def test_the_files_of_the_model_are_documented_with_their_digests(name):
    assert f"| `{name}` | `{DIGESTS[name]}` |" in PAGE


def test_the_model_is_named_and_no_package_that_carries_it():
    assert f"[{MODEL}](https://huggingface.co/{MODEL}), revision\n`{REVISION}`" in PAGE
    for path in (
        "docs/models.md",
        "docs/internals/classification.md",
        "Containerfile",
        "oracle/features/encoder/loading.py",
    ):
        assert "gt-all" not in (ROOT / path).read_text(encoding="utf-8").replace("_", "-")

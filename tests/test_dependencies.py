"""The oldest dependencies that `pyproject.toml` allows are those that CI tries, and the lock is within its bounds."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DEPENDENCIES = [
    Requirement(text)
    for texts in (PROJECT["dependencies"], *PROJECT["optional-dependencies"].values())
    for text in texts
]


def locked(path):
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
    found = (re.match(r"([\w.-]+)==([^ ;]+)", line) for line in lines)
    return {canonicalize_name(match[1]): Version(match[2]) for match in found if match}


@pytest.mark.parametrize("dependency", DEPENDENCIES, ids=lambda each: each.name)
def test_ci_tries_the_oldest_version_that_is_allowed(dependency):
    (bound,) = (Version(each.version) for each in dependency.specifier if each.operator == ">=")
    assert locked(".ci/lowest.lock")[canonicalize_name(dependency.name)] == bound, "run `make lock`"


@pytest.mark.parametrize("dependency", DEPENDENCIES, ids=lambda each: each.name)
def test_the_locked_version_is_allowed(dependency):
    assert locked("requirements.lock")[canonicalize_name(dependency.name)] in dependency.specifier


def test_a_posix_system_is_required_in_words_and_not_by_a_dependency_that_is_missing_elsewhere():
    assert "Operating System :: POSIX" in PROJECT["classifiers"]
    assert [str(each) for each in DEPENDENCIES if each.marker is not None] == []

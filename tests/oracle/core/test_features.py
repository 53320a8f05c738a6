"""Features: which there are, what is left out, and what another package can add."""

import importlib.util
from dataclasses import replace
from importlib.metadata import EntryPoint

import pytest

from oracle.core import features as module
from oracle.core.features import (
    DEFAULT_FEATURES,
    Feature,
    FeatureError,
    Setting,
    chosen_features,
    features,
    installed_features,
)
from oracle.core.loading import imported
from oracle.server.settings import fields
from oracle.server.settings.fields import Settings
from oracle.server.settings.reading import SettingsError, read_settings


@pytest.fixture
def adding(monkeypatch):
    """Installs features of another package for the length of a test."""

    def add(*found, raises=None):
        def load(_):
            if raises:
                raise raises
            return found[0]

        points = [EntryPoint("acme", "acme:FEATURE", module.GROUP)]
        monkeypatch.setattr(module, "entry_points", lambda group: points if group == module.GROUP else [])
        monkeypatch.setattr(EntryPoint, "load", load)
        installed_features.cache_clear()

    yield add
    installed_features.cache_clear()


@pytest.fixture
def without_shadow(monkeypatch):
    """The folder of shadow runs is not there."""
    monkeypatch.setattr(module, "find_spec", lambda name: None if name.endswith(".shadow") else True)
    installed_features.cache_clear()
    yield
    installed_features.cache_clear()


def names(*chosen):
    return [feature.name for feature in features(chosen)]


def test_each_default_feature_is_there_under_a_name_of_its_own():
    assert len(names()) == len(DEFAULT_FEATURES) == len(set(names()))
    assert {"shadow", "webhooks", "openai"} < set(names())


def test_every_place_that_a_feature_names_is_there():
    for feature in features():
        called = filter(None, [feature.actions, feature.models, feature.prepares, feature.opens])
        for place in (*feature.calls, *(at for at, _ in feature.commands.values()), *called):
            assert imported(place) is not None, place
        for path in feature.adapters.values():
            assert importlib.util.find_spec(path) is not None, path
        for setting in filter(None, (*(each.name for each in feature.settings), feature.when)):
            assert setting.partition("=")[0] in Settings.model_fields, setting


def test_features_are_left_out_by_their_names():
    assert set(names()) - set(names("-shadow", "-ag-ui")) == {"shadow", "ag-ui"}
    assert chosen_features({"ORACLE_FEATURES": " -shadow,, -ag-ui "}) == ("-shadow", "-ag-ui")


@pytest.mark.parametrize(
    ("chosen", "problem"), [("-shado", "did you mean 'shadow'"), ("shadow", "'-shadow,-webhooks', not 'shadow'")]
)
def test_what_is_no_feature_is_refused(chosen, problem):
    with pytest.raises(FeatureError, match=problem):
        features([chosen])


@pytest.mark.usefixtures("without_shadow")
def test_a_folder_that_is_not_there_is_a_feature_that_is_not_there():
    assert "shadow" not in names()


def test_another_package_adds_a_feature(adding):
    adding(Feature(name="acme", summary="Says hello.", needs=("shadow",)))
    assert names()[-1] == "acme"
    assert names("-acme", "-shadow")[-1] != "acme"
    with pytest.raises(FeatureError, match="the feature 'acme' needs 'shadow'"):
        features(["-shadow"])


def test_a_name_that_is_taken_is_refused(adding):
    adding(replace(features()[0], name="shadow", summary="Another one."))
    with pytest.raises(FeatureError, match="has the name 'shadow' of another feature"):
        features()


def test_a_setting_of_another_feature_is_refused(adding):
    adding(Feature(name="acme", summary="Says hello.", settings=(Setting("shadow_rate", "Mine.", kind="number"),)))
    with pytest.raises(
        FeatureError,
        match=r"'acme' \(acme\) declares the setting 'shadow_rate' of the feature 'shadow'; choose another",
    ):
        features()


@pytest.mark.parametrize("name", ["model", "max_token_budget", "vault"])
def test_a_setting_of_the_service_is_refused_at_the_start(adding, name):
    adding(Feature(name="acme", summary="Says hello.", settings=(Setting(name, "Mine.", kind="text"),)))
    spec = importlib.util.spec_from_file_location("fields_of_a_start", fields.__file__)
    with pytest.raises(FeatureError, match=f"'acme' declares the setting '{name}' of the service; choose another name"):
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


def test_what_is_no_feature_or_cannot_be_loaded_is_refused(adding):
    adding("text")
    with pytest.raises(FeatureError, match="must be a Feature, not 'text'"):
        features()
    adding(None, raises=ImportError("no acme"))
    with pytest.raises(FeatureError, match="cannot be loaded: no acme"):
        features()


def test_a_setting_of_a_feature_that_is_left_out_is_an_error(monkeypatch):
    monkeypatch.setenv("ORACLE_FEATURES", "-shadow,-webhooks")
    monkeypatch.setenv("ORACLE_CONTROL", "shadow")
    with pytest.raises(
        SettingsError, match="ORACLE_CONTROL asks for the feature 'shadow', which ORACLE_FEATURES leaves"
    ):
        read_settings()
    monkeypatch.setenv("ORACLE_CONTROL", "loop")
    assert read_settings().features == ("-shadow", "-webhooks")


@pytest.mark.usefixtures("without_shadow")
def test_a_control_whose_feature_is_not_installed_is_an_error(monkeypatch):
    monkeypatch.setenv("ORACLE_CONTROL", "shadow")
    with pytest.raises(SettingsError, match="ORACLE_CONTROL asks for the feature 'shadow', which is not installed"):
        read_settings()
    monkeypatch.setenv("ORACLE_CONTROL", "loop")
    assert read_settings().primary_control == "loop"


def test_a_settings_file_cannot_leave_features_out(monkeypatch, tmp_path):
    monkeypatch.delenv("ORACLE_FEATURES", raising=False)
    (tmp_path / ".env").write_text("ORACLE_FEATURES=-shadow\n")
    assert read_settings(tmp_path / ".env").features == ()

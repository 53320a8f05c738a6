"""The encoder of a service: loaded in the background, seen by operators, and never in the way."""

import asyncio
import shutil
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from oracle.classify.protocol import NO_ENCODER
from oracle.core.metrics import Metrics
from oracle.features.encoder.thread import EncoderThread, open_encoder
from oracle.llm.offline import OfflineModel
from oracle.server.settings.fields import Settings
from oracle.server.wiring.agent import Fittings, prepared
from tests.oracle.features.encoder.weights import MODEL_FOLDER
from tests.oracle.server.api.conftest import running_service


@asynccontextmanager
async def encoder_of(settings, metrics, *, after_s):
    fittings = Fittings(OfflineModel(), metrics)
    async with open_encoder(settings, fittings, after_s=after_s):
        yield fittings.encoder


async def test_it_is_not_there_if_it_is_off():
    metrics = Metrics()
    fittings = Fittings(OfflineModel(), metrics)
    async with prepared(Settings(encoder="off"), fittings):
        encoder = fittings.encoder
        assert encoder is NO_ENCODER
        assert await encoder.query_shares("where is it?") is None
        assert await encoder.intent_shares("It is there.") is None
    assert b"oracle_encoder_ready" not in metrics.exposition()


async def test_the_one_in_the_data_folder_is_counted(tmp_path):
    (tmp_path / "encoder").symlink_to(MODEL_FOLDER)
    metrics = Metrics()
    async with encoder_of(Settings(encoder="auto", data_dir=tmp_path), metrics, after_s=3600) as encoder:
        assert encoder.state == "loading"
        assert "oracle_encoder_ready 0.0" in metrics.exposition().decode()
        await encoder.load()
        encoder._patience_s = 60  # on a busy machine
        shares = await encoder.query_shares("Which function parses the configuration file?")
        told = metrics.exposition().decode()
    assert max(shares, key=shares.get) == "code"
    assert "oracle_encoder_ready 1.0" in told
    assert 'oracle_encoder_texts_total{kind="query"' in told


async def test_of_a_model_in_the_data_folder_each_byte_is_known(tmp_path):
    copied = Path(shutil.copytree(MODEL_FOLDER, tmp_path / "encoder"))
    (copied / "config.json").write_text("{}")
    async with encoder_of(Settings(encoder="auto", data_dir=tmp_path), Metrics(), after_s=3600) as encoder:
        await encoder.load()
        assert encoder.state == "corrupt"


async def test_a_folder_without_a_model_leaves_the_heuristics_alone(tmp_path):
    metrics = Metrics()
    async with encoder_of(Settings(encoder=str(tmp_path)), metrics, after_s=3600) as encoder:
        await encoder.load()
        assert encoder.state == "missing"
    assert "oracle_encoder_ready 0.0" in metrics.exposition().decode()


async def test_it_is_loaded_in_the_background(tmp_path, monkeypatch):
    loaded = asyncio.Event()

    class Watched(EncoderThread):
        async def load(self):
            await super().load()
            loaded.set()

    monkeypatch.setattr("oracle.features.encoder.thread.EncoderThread", Watched)
    async with encoder_of(Settings(encoder=str(tmp_path)), Metrics(), after_s=0) as encoder:
        assert encoder.state == "loading"
        await asyncio.wait_for(loaded.wait(), 20)
        assert encoder.state == "missing"


async def test_the_end_of_the_service_does_not_wait_for_it():
    async with encoder_of(Settings(encoder="auto"), Metrics(), after_s=3600) as encoder:
        pass
    assert encoder.state == "loading"


@pytest.mark.parametrize(
    ("given", "read"), [("auto", "auto"), (" OFF ", "off"), ("", "off")], ids=["auto", "off", "empty"]
)
def test_the_setting_is_a_word_or_a_folder(monkeypatch, given, read):
    monkeypatch.setenv("ORACLE_ENCODER", given)
    assert Settings().encoder == read


def test_any_other_value_is_a_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("ORACLE_ENCODER", str(tmp_path))
    assert Settings().encoder == tmp_path


@pytest.mark.parametrize("state", ["loading", "ready", "slow", "missing", "corrupt", "failed"])
async def test_readiness_says_its_state_and_stays_ready(tmp_path, state):
    class Stated(type(NO_ENCODER)):
        pass

    Stated.state = state
    async with running_service(tmp_path, encoder=Stated()) as service:
        answer = await service.client.get("/readyz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ready", "encoder": state})

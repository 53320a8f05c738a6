"""The real weights: what they say is known, and files that are not what they must be are found out."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from oracle.domains.code.weights import QUERY_TYPES
from oracle.features.encoder.bert import BertLayers, BertShape, Head
from oracle.features.encoder.loading import (
    DIGESTS,
    EXEMPLARS,
    HEADS,
    WEIGHTS_FILE,
    CorruptEncoderError,
    MissingEncoderError,
    check_folder,
    foreign_file,
    load,
    load_known,
    one_blas_thread,
    vector_of,
)
from tests.oracle.features.encoder.weights import MODEL_FOLDER


@pytest.fixture(scope="module")
def loaded():
    return load_known(MODEL_FOLDER)


@pytest.mark.long("loads all layers of the model")
def test_all_layers_give_the_similarities_that_the_model_is_known_for(loaded):
    folder = MODEL_FOLDER
    whole = BertLayers(folder / WEIGHTS_FILE, BertShape.read(folder / "config.json"), layers=6)
    texts = ["That is a happy person", "That is a happy dog", "That is a very happy person", "Today is a sunny day"]
    one, *others = (vector_of(text, loaded.tokenizer, whole) for text in texts)
    assert [round(float(one @ other), 3) for other in others] == [0.695, 0.943, 0.257]


@pytest.mark.parametrize(
    ("kind", "text", "label"),
    [
        ("query", "Which function parses the configuration file?", "code"),
        ("query", "What is the capital of Peru?", "research"),
        ("query", "Thank you, that is all!", "conversational"),
        ("query", "Create a note about the new logo", "action"),
        ("query", "What did we decide in the last meeting?", "documentation"),
        ("intent", "Next I will read the second file.", "need_turn"),
        ("intent", "All of my searches came back empty and I have no other idea.", "stuck"),
        ("intent", "I have no permission to read the database.", "need_capability"),
    ],
)
def test_it_reads_what_a_text_wants(loaded, kind, text, label):
    shares = loaded.shares(kind, text)
    assert max(shares, key=shares.get) == label
    assert sum(shares.values()) == pytest.approx(1, abs=0.001)
    assert min(shares.values()) > 0


@pytest.mark.parametrize("text", ["", " ", "?", "\ud800", "a" * 30_000, "好" * 20_000, "\0", "🙂" * 500])
def test_it_reads_any_text(loaded, text):
    shares = loaded.shares("query", text)
    assert set(shares) == set(QUERY_TYPES)
    assert sum(shares.values()) == pytest.approx(1, abs=0.001)


def test_the_heads_are_those_of_the_pinned_weights(loaded):
    assert json.loads(HEADS.read_text("utf-8"))["weights_sha256"] == DIGESTS[WEIGHTS_FILE]


def copied(folder: Path) -> Path:
    for name in DIGESTS:
        shutil.copy(MODEL_FOLDER / name, folder / name)
    return folder


def test_weights_with_one_other_byte_are_corrupt(tmp_path):
    weights = copied(tmp_path) / WEIGHTS_FILE
    with weights.open("r+b") as file:
        file.seek(50_000_000)
        byte = file.read(1)
        file.seek(50_000_000)
        file.write(bytes([byte[0] ^ 1]))
    with pytest.raises(CorruptEncoderError, match=f"not {DIGESTS[WEIGHTS_FILE]}: it is damaged"):
        load_known(tmp_path)


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json"])
def test_the_other_files_are_known_as_well(tmp_path, name):
    path = copied(tmp_path) / name
    path.write_text(path.read_text("utf-8") + "\n")
    assert name in foreign_file(tmp_path)
    with pytest.raises(CorruptEncoderError, match=f"{name}.*not {DIGESTS[name]}"):
        load_known(tmp_path)


@pytest.mark.parametrize("name", DIGESTS)
def test_a_file_that_is_not_whole_is_corrupt(tmp_path, name):
    path = copied(tmp_path) / name
    os.truncate(path, path.stat().st_size // 2)
    with pytest.raises(CorruptEncoderError, match=name):
        load(tmp_path)


def test_a_folder_without_the_files_is_missing(tmp_path):
    with pytest.raises(MissingEncoderError, match=r"config\.json"):
        check_folder(tmp_path)


def test_another_kind_of_model_is_refused(tmp_path):
    config = copied(tmp_path) / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"model_type": "mpnet"}))
    with pytest.raises(CorruptEncoderError, match="'mpnet'"):
        load(tmp_path)


def tiny_model(folder: Path) -> Path:
    """A model of two layers and random numbers, with the tokenizer of the real one."""
    copied(folder)
    numbers = np.random.default_rng(1)
    width, wide = 16, 32
    shapes = {
        "embeddings.word_embeddings.weight": (30522, width),
        "embeddings.position_embeddings.weight": (512, width),
        "embeddings.token_type_embeddings.weight": (2, width),
        "embeddings.LayerNorm.weight": (width,),
        "embeddings.LayerNorm.bias": (width,),
    }
    for layer in range(2):
        of = f"encoder.layer.{layer}."
        for name, (out, into) in {
            "attention.self.query": (width, width),
            "attention.self.key": (width, width),
            "attention.self.value": (width, width),
            "attention.output.dense": (width, width),
            "intermediate.dense": (wide, width),
            "output.dense": (width, wide),
        }.items():
            shapes |= {f"{of}{name}.weight": (out, into), f"{of}{name}.bias": (out,)}
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes |= {f"{of}{name}.weight": (width,), f"{of}{name}.bias": (width,)}
    tensors = {
        f"bert.{name}": numbers.normal(scale=0.2, size=shape).astype(np.float16) for name, shape in shapes.items()
    }
    save_file(tensors, folder / WEIGHTS_FILE)
    config = json.loads((folder / "config.json").read_text())
    config |= {"num_hidden_layers": 2, "num_attention_heads": 4}
    (folder / "config.json").write_text(json.dumps(config))
    return folder


@pytest.mark.long("embeds all exemplars")
def test_another_model_gets_heads_of_its_own_from_the_exemplars(tmp_path):
    loaded = load(tiny_model(tmp_path))
    assert loaded.layers.width == 16
    assert loaded.heads["query"].weights.shape == (16, 5)
    exemplars = json.loads(EXEMPLARS.read_text("utf-8"))
    for kind, head in loaded.heads.items():
        assert set(head.labels) == {label for _, label in exemplars[kind]}
        assert sum(loaded.shares(kind, exemplars[kind][0][0]).values()) == pytest.approx(1, abs=0.001)


def test_a_head_tells_apart_what_lies_apart():
    numbers = np.random.default_rng(3)
    given = ["a", "b", "c"] * 30
    centres = {"a": 0, "b": 1, "c": 2}
    vectors = np.array([np.eye(8)[centres[label]] + numbers.normal(scale=0.2, size=8) for label in given], np.float32)
    head = Head.fit(vectors, given, ("a", "b", "c"), sharpness=1.0)
    found = [max(shares, key=shares.get) for shares in map(head.shares, vectors)]
    assert sum(one == label for one, label in zip(found, given, strict=True)) >= 88


def test_a_head_keeps_its_shares_when_it_is_written_and_read():
    numbers = np.random.default_rng(2)
    vectors = numbers.normal(size=(40, 8)).astype(np.float32)
    head = Head.fit(vectors, ["a", "b"] * 20, ("a", "b"), sharpness=0.5)
    again = Head.from_data(json.loads(json.dumps(head.to_data())))
    assert again.shares(vectors[0]) == pytest.approx(head.shares(vectors[0]), abs=0.002)


@pytest.mark.long("starts an interpreter")
def test_numpy_is_not_imported_before_an_encoder_is_wanted():
    extras = "{'numpy', 'tokenizers', 'safetensors'}"
    code = f"import oracle.server.wiring.service, sys; print(sorted({extras} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.long("starts an interpreter")
def test_numpy_computes_in_one_thread_and_the_environment_is_as_before():
    code = (
        "import os, pathlib; os.environ['OMP_NUM_THREADS'] = '3'\n"
        "from oracle.features.encoder.loading import load, one_blas_thread\n"
        "with one_blas_thread():\n"
        "    print(os.environ['OPENBLAS_NUM_THREADS'], os.environ['OMP_NUM_THREADS'])\n"
        "print('OPENBLAS_NUM_THREADS' in os.environ, os.environ['OMP_NUM_THREADS'])\n"
        f"loaded = load(pathlib.Path({str(MODEL_FOLDER)!r}))\n"
        "before = len(os.listdir('/proc/self/task'))\n"
        "loaded.shares('query', 'where is it? ' * 50)\n"
        "print(len(os.listdir('/proc/self/task')) - before)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "1", "False", "3", "0"]
    with one_blas_thread():  # loaded already, in this process
        assert "numpy" in sys.modules

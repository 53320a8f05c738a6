"""Loads the encoder: packages, weights, tokenizer, heads. Runs in the encoder's own thread, and takes about a second.

NumPy is imported by the module that `load` imports, so not before an encoder is wanted. If the files of the folder are
wrong, only the heuristics answer.
"""

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import file_digest
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from bt_runtime.text.data import dataclass
from oracle.core.errors import OperatorError
from oracle.core.loading import collector_paused

if TYPE_CHECKING:  # NumPy is not loaded before an encoder is wanted
    from oracle.features.encoder.bert import BertLayers, Head, Matrix


MODEL: Final = "sentence-transformers/all-MiniLM-L6-v2"
"""The model whose heads are part of the product."""
REVISION: Final = "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"
WEIGHTS_FILE: Final = "model.safetensors"
DIGESTS: Final[Mapping[str, str]] = {
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    WEIGHTS_FILE: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
}
"""SHA-256 of its files, as its authors publish them."""
PACKAGES: Final = ("numpy", "safetensors", "tokenizers")
INSTALL: Final = "pip install 'oracle-bt[encoder]'"


class MissingEncoderError(OperatorError):
    """A package or a folder that it needs is missing."""


class CorruptEncoderError(OperatorError):
    """Its files are wrong or damaged."""


def check_folder(folder: Path) -> None:
    """Check that an encoder can be loaded from a folder.

    Raises:
        MissingEncoderError: a package, the folder, or a file of it is missing.
    """
    for name in PACKAGES:
        if find_spec(name) is None:
            raise MissingEncoderError(f"the package {name!r} is not installed; install the encoder with: {INSTALL}")
    for name in DIGESTS:
        if not (folder / name).is_file():
            raise MissingEncoderError(
                f"there is no file {str(folder / name)!r}; a folder of an encoder has {', '.join(DIGESTS)}, as {MODEL} "
                "has them"
            )


def foreign_file(folder: Path) -> str:
    """What tells a folder's model from `MODEL`: the first file with another SHA-256, and its own; empty if it is that.

    Raises:
        CorruptEncoderError: a file cannot be read.
    """
    for name, sha in DIGESTS.items():
        path = folder / name
        try:
            with path.open("rb") as file:
                found = file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise CorruptEncoderError(f"{str(path)!r} cannot be read: {error}") from None
        if found != sha:
            return f"{str(path)!r} has the SHA-256 {found}, not {sha}"
    return ""


TextKind = Literal["query", "intent"]
KINDS: tuple[TextKind, ...] = ("query", "intent")
DATA = Path(__file__).parent
HEADS = DATA / "heads.json"
"""The heads for `MODEL`."""
EXEMPLARS = DATA / "exemplars.json"
"""Labelled texts, from which the heads for any other model are made when it is loaded."""
MOST_TOKENS = 96
"""Of a longer text the first half and the last half of this number are read."""
_MOST_CHARACTERS = 4_000
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True, slots=True)
class LoadedEncoder:
    """The encoder in memory; for one thread at a time.

    Args:
        tokenizer: a `Tokenizer` of the package `tokenizers`, made from `tokenizer.json`.
        layers: the lowest layers of the model, which make the vector of a text.
        heads: what makes shares of a vector, by the kind of text.
    """

    tokenizer: Any
    layers: "BertLayers"
    heads: "dict[TextKind, Head]"

    def shares(self, kind: TextKind, text: str) -> dict[str, float]:
        """The share of each label of the kind."""
        return self.heads[kind].shares(self.vector(text))

    def vector(self, text: str) -> "Matrix":
        """The vector of a text."""
        return vector_of(text, self.tokenizer, self.layers)


def vector_of(text: str, tokenizer: Any, layers: "BertLayers") -> "Matrix":  # noqa: ANN401  without types
    """The vector of a text, of the length 1; of a long one the beginning and the end are read."""
    if len(text) > _MOST_CHARACTERS:
        text = f"{text[: _MOST_CHARACTERS // 2]}\n{text[-_MOST_CHARACTERS // 2 :]}"
    clean = text.encode("utf-8", "replace").decode("utf-8")  # the tokenizer refuses lone surrogates
    tokens: Sequence[int] = tokenizer.encode(clean).ids
    if len(tokens) > MOST_TOKENS:
        tokens = [*tokens[: MOST_TOKENS // 2], *tokens[-MOST_TOKENS // 2 :]]
    return layers.encode(tokens)


def load_known(folder: Path) -> LoadedEncoder:
    """Load the encoder from a folder that must hold `MODEL`.

    Raises:
        MissingEncoderError: a package or a file is missing.
        CorruptEncoderError: a file is not the one of `MODEL`.
    """
    return load(folder, must_be_known=True)


def load(folder: Path, *, must_be_known: bool = False) -> LoadedEncoder:
    """Load the encoder from a folder with any model in the form of sentence-transformers.

    Raises:
        MissingEncoderError: a package or a file is missing.
        CorruptEncoderError: a file is not what it must be.
    """
    check_folder(folder)
    foreign = foreign_file(folder)
    if foreign and must_be_known:
        raise CorruptEncoderError(
            f"{foreign}: it is damaged, or of another model than {MODEL}, whose folder ORACLE_ENCODER must name"
        )
    with collector_paused(), one_blas_thread():
        from oracle.features.encoder.bert import BertLayers, BertShape, Head  # noqa: PLC0415  imports NumPy
    shape = BertShape.read(folder / "config.json")
    layers = BertLayers(folder / WEIGHTS_FILE, shape, layers=shape.layers // 2)
    tokenizer = open_tokenizer(folder / "tokenizer.json")
    if not foreign:
        known = json.loads(HEADS.read_text("utf-8"))["heads"]
        return LoadedEncoder(tokenizer, layers, {kind: Head.from_data(known[kind]) for kind in KINDS})
    return LoadedEncoder(tokenizer, layers, _fitted(tokenizer, layers))


def _fitted(tokenizer: Any, layers: "BertLayers") -> "dict[TextKind, Head]":  # noqa: ANN401  without types
    """The heads for a model that is not known: its exemplars are read with it, which takes seconds."""
    import numpy as np  # noqa: PLC0415

    from oracle.features.encoder.bert import Head  # noqa: PLC0415

    known = json.loads(HEADS.read_text("utf-8"))["heads"]
    heads: dict[TextKind, Head] = {}
    for kind, exemplars in json.loads(EXEMPLARS.read_text("utf-8")).items():
        vectors = np.array([vector_of(text, tokenizer, layers) for text, _ in exemplars])
        given = [label for _, label in exemplars]
        heads[kind] = Head.fit(vectors, given, known[kind]["labels"], sharpness=known[kind]["sharpness"])
    return heads


def open_tokenizer(path: Path) -> Any:  # noqa: ANN401  without types
    """The tokenizer in a `tokenizer.json`, which neither pads nor cuts.

    Raises:
        CorruptEncoderError: it cannot be read.
    """
    from tokenizers import Tokenizer  # noqa: PLC0415  an extra

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # noqa: BLE001  the package raises nothing more special
        raise CorruptEncoderError(f"{str(path)!r} cannot be read: {error}") from None
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """NumPy that is imported here computes in the calling thread alone; one that is imported already stays as it is.

    Its linear algebra reads the number of its threads from the environment when it is loaded.
    """
    if "numpy" in sys.modules:
        yield
        return
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

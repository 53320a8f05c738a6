"""The lower layers of a BERT-like transformer, in NumPy, and from a text's vector to shares of labels.

Rules:

- One text at a time, so nothing is padded and no mask is needed.
- Only the layers that are asked for are read from the file: the layers above serve the similarity of sentences, and
  know less about what a sentence wants (docs/internals/classification.md has the figures).
- `numpy` is imported by this module alone, and only in the encoder's own thread.

Heads are linear discriminants over centred vectors. A head is as good as centred class prototypes with a common, shrunk
covariance, which is a closed form: no epochs, no random numbers, milliseconds for a thousand exemplars. It was compared
with cosines to prototypes and to the three nearest exemplars, which need all vectors at hand and are two to six points
worse (docs/internals/classification.md).
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open

from bt_runtime.text.data import dataclass
from oracle.features.encoder.loading import CorruptEncoderError

Matrix = NDArray[np.float32]

_SQRT_HALF = np.float32(0.7071067811865476)
# Abramowitz and Stegun 7.1.26: the error function, with an error below 1.5e-7.
_ERF_P = np.float32(0.3275911)
_ERF = tuple(map(np.float32, (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)))


@dataclass(frozen=True, slots=True)
class BertShape:
    """The shape of a model, from its `config.json`.

    Args:
        layers: all layers of the model.
        heads: of the attention, in each layer.
        epsilon: keeps the normalization from dividing by zero.
        positions: the longest text, in tokens.
    """

    layers: int
    heads: int
    epsilon: float
    positions: int

    @classmethod
    def read(cls, path: Path) -> "BertShape":
        """The shape in a `config.json`.

        Raises:
            CorruptEncoderError: it is no BERT model's, or cannot be read.
        """
        try:
            fields: Mapping[str, Any] = json.loads(path.read_text("utf-8"))
            if fields["model_type"] != "bert" or fields.get("hidden_act", "gelu") != "gelu":
                raise CorruptEncoderError(
                    f"{str(path)!r} describes a model of the type {fields['model_type']!r} with "
                    f"{fields.get('hidden_act')!r}; only 'bert' with 'gelu' can be computed here"
                )
            return cls(
                layers=int(fields["num_hidden_layers"]),
                heads=int(fields["num_attention_heads"]),
                epsilon=float(fields.get("layer_norm_eps", 1e-12)),
                positions=int(fields["max_position_embeddings"]),
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CorruptEncoderError(f"{str(path)!r} cannot be read: {type(error).__name__}: {error}") from None


@dataclass(frozen=True, slots=True)
class _Layer:
    """One layer; matrices are (inputs, outputs), the three of query, key and value in one."""

    attention: Matrix
    attention_bias: Matrix
    mixed: Matrix
    mixed_bias: Matrix
    mixed_norm: tuple[Matrix, Matrix]
    wide: Matrix
    wide_bias: Matrix
    narrow: Matrix
    narrow_bias: Matrix
    norm: tuple[Matrix, Matrix]


class BertLayers:
    """The embeddings and the lowest layers of a model.

    Args:
        path: `model.safetensors`.
        shape: what the configuration says of the model.
        layers: how many layers to compute, from below.

    Raises:
        CorruptEncoderError: the file is not whole, or has other tensors.
    """

    def __init__(self, path: Path, shape: BertShape, *, layers: int) -> None:
        self._shape = shape
        try:
            with safe_open(path, framework="numpy") as file:
                prefix = "" if "embeddings.word_embeddings.weight" in file.keys() else "bert."  # noqa: SIM118
                read = _Reader(file, prefix)
                self._words = read("embeddings.word_embeddings.weight")
                # The type of all tokens is 0, so its vector is added to that of each position at once.
                self._places = (
                    read("embeddings.position_embeddings.weight") + read("embeddings.token_type_embeddings.weight")[0]
                )
                self._norm = read("embeddings.LayerNorm.weight"), read("embeddings.LayerNorm.bias")
                self._layers = [_layer(read, at) for at in range(min(layers, shape.layers))]
        except Exception as error:
            if isinstance(error, MemoryError):
                raise
            raise CorruptEncoderError(f"{str(path)!r} cannot be read: {type(error).__name__}: {error}") from None
        if self.width % shape.heads:
            raise CorruptEncoderError(f"{self.width} numbers a token do not divide into {shape.heads} heads")

    @property
    def width(self) -> int:
        """The numbers of a vector."""
        return int(self._words.shape[1])

    def encode(self, tokens: Sequence[int]) -> Matrix:
        """The mean of the tokens' vectors above the last layer computed, of the length 1.

        Args:
            tokens: ids of the tokenizer, with those that begin and end a text; at least one.
        """
        ids = np.asarray(tokens[: self._shape.positions])
        found = _normalized(self._words[ids] + self._places[: len(ids)], self._norm, self._shape.epsilon)
        for layer in self._layers:
            found = self._through(layer, found)
        mean: Matrix = found.mean(axis=0)
        mean /= max(float(np.linalg.norm(mean)), 1e-9)
        return mean

    def _through(self, layer: _Layer, tokens: Matrix) -> Matrix:
        count, width = tokens.shape
        heads, epsilon = self._shape.heads, self._shape.epsilon
        three = (tokens @ layer.attention + layer.attention_bias).reshape(count, 3, heads, width // heads)
        query, key, value = three.transpose(1, 2, 0, 3)
        scores = query @ key.transpose(0, 2, 1) / np.float32((width // heads) ** 0.5)
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        seen = (scores @ value).transpose(1, 0, 2).reshape(count, width)
        tokens = _normalized(seen @ layer.mixed + layer.mixed_bias + tokens, layer.mixed_norm, epsilon)
        wide = _gelu(tokens @ layer.wide + layer.wide_bias)
        return _normalized(wide @ layer.narrow + layer.narrow_bias + tokens, layer.norm, epsilon)


class _Reader:
    """Reads tensors by name."""

    def __init__(self, file: Any, prefix: str) -> None:  # noqa: ANN401  safetensors has no types
        self._file = file
        self._prefix = prefix

    def __call__(self, name: str) -> Matrix:
        found: Matrix = self._file.get_tensor(self._prefix + name).astype(np.float32, copy=False)
        return found

    def across(self, name: str) -> Matrix:
        """A matrix as it is multiplied from the right."""
        return np.ascontiguousarray(self(name).T)


def _layer(read: _Reader, at: int) -> _Layer:
    of = f"encoder.layer.{at}."
    parts = [f"{of}attention.self.{name}" for name in ("query", "key", "value")]
    return _Layer(
        attention=np.ascontiguousarray(np.concatenate([read(f"{part}.weight").T for part in parts], axis=1)),
        attention_bias=np.concatenate([read(f"{part}.bias") for part in parts]),
        mixed=read.across(f"{of}attention.output.dense.weight"),
        mixed_bias=read(f"{of}attention.output.dense.bias"),
        mixed_norm=(read(f"{of}attention.output.LayerNorm.weight"), read(f"{of}attention.output.LayerNorm.bias")),
        wide=read.across(f"{of}intermediate.dense.weight"),
        wide_bias=read(f"{of}intermediate.dense.bias"),
        narrow=read.across(f"{of}output.dense.weight"),
        narrow_bias=read(f"{of}output.dense.bias"),
        norm=(read(f"{of}output.LayerNorm.weight"), read(f"{of}output.LayerNorm.bias")),
    )


def _normalized(rows: Matrix, norm: tuple[Matrix, Matrix], epsilon: float) -> Matrix:
    centred = rows - rows.mean(axis=-1, keepdims=True)
    spread = np.sqrt(np.square(centred).mean(axis=-1, keepdims=True) + np.float32(epsilon))
    weight, bias = norm
    found: Matrix = centred / spread * weight + bias
    return found


def _gelu(numbers: Matrix) -> Matrix:
    size = np.abs(numbers) * _SQRT_HALF
    part = 1 / (1 + _ERF_P * size)
    sum_ = part * (_ERF[0] + part * (_ERF[1] + part * (_ERF[2] + part * (_ERF[3] + part * _ERF[4]))))
    error_function = np.sign(numbers) * (1 - sum_ * np.exp(-size * size))
    found: Matrix = np.float32(0.5) * numbers * (1 + error_function)
    return found


SHRINKAGE = 1.0
"""How much of the mean variance is added to each variance; chosen by cross-validation, flat between 0.3 and 3."""
LEAST_SHARE = 0.001
"""A share is never less, so that no text is evidence beyond doubt."""


@dataclass(frozen=True, slots=True)
class Head:
    """A linear map from vectors to labels.

    Args:
        labels: in the order of the columns.
        mean: of the exemplars' vectors, which is subtracted first.
        weights: a row for each number of a vector, a column for each label.
        bias: what is added to the score of each label.
        sharpness: what scores are multiplied with before they become shares, so that these are calibrated.
    """

    labels: tuple[str, ...]
    mean: Matrix
    weights: Matrix
    bias: Matrix
    sharpness: float

    @classmethod
    def fit(cls, vectors: Matrix, given: Sequence[str], labels: Sequence[str], *, sharpness: float) -> "Head":
        """The head of labelled exemplars.

        Args:
            vectors: a row for each exemplar.
            given: their labels.
            labels: all labels; each has an exemplar.
            sharpness: what scores are multiplied with before they become shares.
        """
        mean = vectors.mean(axis=0)
        rows = _of_length_1(vectors - mean)
        at = np.array([labels.index(label) for label in given])
        classes = np.array([rows[at == label].mean(axis=0) for label in range(len(labels))])
        inside = rows - classes[at]
        covariance = inside.T @ inside / len(rows)
        covariance += SHRINKAGE * np.trace(covariance) / len(covariance) * np.eye(len(covariance), dtype=np.float32)
        weights = np.linalg.solve(covariance, classes.T)
        bias = -0.5 * np.sum(classes.T * weights, axis=0)
        return cls(tuple(labels), mean, weights.astype(np.float32), bias.astype(np.float32), sharpness)

    def shares(self, vector: Matrix) -> dict[str, float]:
        """The share of each label, to four digits; they add up to 1 but for rounding."""
        scores = self.scores(vector[None, :])[0] * self.sharpness
        shares = np.exp(scores - scores.max())
        shares = np.maximum(shares / shares.sum(), LEAST_SHARE)
        shares /= shares.sum()
        return {label: round(float(share), 4) for label, share in zip(self.labels, shares, strict=True)}

    def scores(self, vectors: Matrix) -> Matrix:
        """The scores of all labels (columns) for vectors (rows), before `sharpness`."""
        found: Matrix = _of_length_1(vectors - self.mean) @ self.weights + self.bias
        return found

    def to_data(self) -> dict[str, Any]:
        """As data of a JSON file, with four significant digits."""
        return {
            "labels": list(self.labels),
            "sharpness": self.sharpness,
            "bias": _digits(self.bias),
            "mean": _digits(self.mean),
            "weights": [_digits(column) for column in self.weights.T],
        }

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> "Head":
        """Read the output of `to_data`."""
        return cls(
            labels=tuple(data["labels"]),
            mean=np.array(data["mean"], np.float32),
            weights=np.array(data["weights"], np.float32).T.copy(),
            bias=np.array(data["bias"], np.float32),
            sharpness=float(data["sharpness"]),
        )


def _of_length_1(rows: Matrix) -> Matrix:
    found: Matrix = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    return found


def _digits(numbers: Matrix) -> list[float]:
    return [float(f"{number:.4g}") for number in numbers.tolist()]

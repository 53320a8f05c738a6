"""Writes what the encoder has learned: its heads, its exemplars, and the mix with the rules.

    .venv/bin/python -m benchmarks.encoder_training

Run it when the labelled sets or the rules have changed. The heads are made from the sets that the rules are trained on;
their sharpness is chosen by cross-validation. The mix is fitted on `mix_*.jsonl`, which neither side is trained on: on
its own training texts each side would look better than it is.
"""

import json
import random
from pathlib import Path

from oracle.features.encoder.loading import EXEMPLARS, HEADS, one_blas_thread, open_tokenizer, vector_of

with one_blas_thread():  # several would wait for each other on a busy machine
    import numpy as np

from oracle.classify import query_shares, response_shares
from oracle.classify.pooling import LEAST_SHARE, MIX, is_english
from oracle.classify.types import SIGNALS
from oracle.domains.code.weights import QUERY_TYPES
from oracle.features.encoder.bert import BertLayers, BertShape, Head
from oracle.features.encoder.loading import DIGESTS, WEIGHTS_FILE, check_folder, foreign_file
from tests.oracle.features.encoder.weights import MODEL_FOLDER

LABELLED = Path(__file__).resolve().parent.parent / "tests" / "data" / "labelled"
LABELS = {"query": QUERY_TYPES, "intent": SIGNALS}
STEMS = {"query": "queries", "intent": "agent_responses"}
EXEMPLARS_OF = {
    "query": ("queries", "queries_fresh_dev", "queries_fresh_heldout", "queries_fresh_more"),
    "intent": ("agent_responses", "agent_responses_fresh_dev", "agent_responses_fresh_heldout"),
}
"""The sets whose texts are shipped, for heads of other models; thousands would take such a model a minute to read."""
MIX_SETS = {"query": "mix_queries", "intent": "mix_responses"}
RULES = {"query": query_shares, "intent": response_shares}
FOLDS = 10


class Texts:
    """Labelled texts of one kind, as vectors."""

    def __init__(self, kind, rows, encoder):
        self.kind, self.labels = kind, LABELS[kind]
        self.texts = [text for text, _ in rows]
        self.given = [label for _, label in rows]
        self.vectors = np.array([encoder(text) for text in self.texts])

    @property
    def english(self):
        return np.array([is_english(text) for text in self.texts])

    @property
    def right(self):
        return np.array([self.labels.index(label) for label in self.given])

    def folds(self, seed=1):
        order = list(range(len(self.texts)))
        random.Random(seed).shuffle(order)
        for fold in range(FOLDS):
            out = np.array(sorted(order[fold::FOLDS]))
            yield np.setdiff1d(np.arange(len(order)), out), out

    def head(self, rows=None, *, sharpness=1.0):
        rows = range(len(self.texts)) if rows is None else rows
        given = [self.given[at] for at in rows]
        return Head.fit(self.vectors[list(rows)], given, self.labels, sharpness=sharpness)

    def cross_validated(self):
        """The scores of each text, by heads that have not seen it."""
        found = np.zeros((len(self.texts), len(self.labels)))
        for inside, out in self.folds():
            found[out] = self.head(inside).scores(self.vectors[out])
        return found


def load_labelled(name):
    lines = (LABELLED / f"{name}.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line]
    return [(row["query"], row["query_type"]) if "query" in row else (row["response"], row["signal"]) for row in rows]


def training_rows(kind):
    """What rules and heads are trained on."""
    return [row for path in sorted(LABELLED.glob(f"{STEMS[kind]}*.jsonl")) for row in load_labelled(path.stem)]


def open_encoder():
    """Maps a text to its vector."""
    folder = MODEL_FOLDER
    check_folder(folder)
    assert not foreign_file(folder)
    shape = BertShape.read(folder / "config.json")
    layers = BertLayers(folder / WEIGHTS_FILE, shape, layers=shape.layers // 2)
    tokenizer = open_tokenizer(folder / "tokenizer.json")
    return lambda text: vector_of(text, tokenizer, layers)


def log_shares(head, vectors):
    return np.log([list(head.shares(vector).values()) for vector in vectors])


def log_rules(kind, texts):
    shares = [[RULES[kind](text)[label] for label in LABELS[kind]] for text in texts]
    return np.log(np.maximum(np.array(shares), LEAST_SHARE))


def surprise(logs, right):
    """The mean negative log-likelihood of the right labels."""
    logs = logs - logs.max(axis=1, keepdims=True)
    return float(np.mean(np.log(np.exp(logs).sum(axis=1)) - logs[np.arange(len(right)), right]))


def best_sharpness(texts):
    scores = texts.cross_validated()
    return min((step / 50 for step in range(5, 61)), key=lambda one: surprise(one * scores, texts.right))


def best_mix(rules, encoded, right):
    steps = [step / 20 for step in range(2, 21)]  # above 1, a side would count as surer than it says
    return min(((a, b) for a in steps for b in steps), key=lambda ab: surprise(ab[0] * rules + ab[1] * encoded, right))


def main():
    encoder = open_encoder()
    heads, exemplars, mix = {}, {}, {}
    for kind in LABELS:
        rows = training_rows(kind)
        texts = Texts(kind, rows, encoder)
        sharpness = best_sharpness(texts)
        head = texts.head(sharpness=sharpness)
        fresh = Texts(kind, load_labelled(MIX_SETS[kind]), encoder)
        rules, encoded, english = log_rules(kind, fresh.texts), log_shares(head, fresh.vectors), fresh.english
        if kind == "query":  # for responses too: too few of them are in another language
            a, b = best_mix(rules[~english], encoded[~english], fresh.right[~english])
            mix["other_languages"] = {"rules": a, "encoder": b}
        a, b = best_mix(rules[english], encoded[english], fresh.right[english])
        heads[kind] = head.to_data()
        exemplars[kind] = [row for name in EXEMPLARS_OF[kind] for row in load_labelled(name)]
        mix[kind] = {"rules": a, "encoder": b}
        print(f"{kind}: {len(rows)} exemplars, sharpness {sharpness}, rules ** {a} * encoder ** {b}")
    HEADS.write_text(
        json.dumps({"weights_sha256": DIGESTS[WEIGHTS_FILE], "heads": heads}, separators=(",", ":")) + "\n"
    )
    EXEMPLARS.write_text(json.dumps(exemplars, ensure_ascii=False, indent=0) + "\n", "utf-8")
    MIX.write_text(json.dumps(mix, indent=2) + "\n")


if __name__ == "__main__":
    main()

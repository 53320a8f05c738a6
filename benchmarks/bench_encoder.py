"""The encoder: how long it takes, and how well it reads beside the rules, alone, and together with them.

Times are ratios to the rules of the same run. Accuracy is on texts that neither side was trained on; the exponents of
the mix were fitted on the mix sets, so there they are chosen anew by cross-validation.
"""

import statistics
import time

from benchmarks.bench_classify import QUERIES, in_languages
from benchmarks.encoder_training import (
    LABELS,
    MIX_SETS,
    Texts,
    best_mix,
    load_labelled,
    log_rules,
    log_shares,
    np,
    open_encoder,
)
from oracle.classify import classify_query, classify_query_with, query_shares
from oracle.classify.pooling import exponents
from oracle.features.encoder.loading import load
from tests.oracle.features.encoder.weights import MODEL_FOLDER

BINS = ((0.0, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 0.9), (0.9, 1.01))


def measured_ms(work, texts):
    times = []
    for text in texts:
        began = time.thread_time()
        work(text)
        times.append((time.thread_time() - began) * 1000)
    times.sort()
    return statistics.median(times), times[int(len(times) * 0.95)]


def print_times(loaded):
    queries = [text for text, _ in load_labelled("mix_queries")]
    responses = [text for text, _ in load_labelled("mix_responses")]
    long_one = [" ".join(responses)] * 5
    rules, _ = measured_ms(query_shares, queries)
    for name, kind, texts in (
        ("a query", "query", queries),
        ("a response", "intent", responses),
        ("a long response", "intent", long_one),
    ):
        median, high = measured_ms(lambda text, kind=kind: loaded.shares(kind, text), texts)
        times = f"{median:.1f} ms of processor time in the middle, {high:.1f} at the 95th percentile"
        print(f"{name}: {times}; {median / rules:.0f} times that of the rules")


def mixed_anew(rules, encoded, texts):
    """The mixed log shares of each text, by exponents that were fitted on the other folds.

    Those of responses in other languages are not fitted on responses at all.
    """
    found = np.zeros_like(rules)
    for inside, out in texts.folds():
        for is_english in (True, False):
            inside_it, new = (rows[texts.english[rows] == is_english] for rows in (inside, out))
            if texts.kind == "intent" and not is_english:
                a, b = exponents("intent", is_english=False)
            else:
                a, b = best_mix(rules[inside_it], encoded[inside_it], texts.right[inside_it])
            found[new] = a * rules[new] + b * encoded[new]
    return found


def share(logs, right):
    return 100 * float(np.mean(logs.argmax(axis=1) == right))


def print_reliability(logs, right):
    shares = np.exp(logs - logs.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    sure, is_right = shares.max(axis=1), shares.argmax(axis=1) == right
    for low, high in BINS:
        inside = (sure >= low) & (sure < high)
        if inside.any():
            mean, good = sure[inside].mean(), is_right[inside].mean()
            print(f"  {low:.1f}-{min(high, 1):.1f}: {int(inside.sum()):4} texts, mean {mean:.2f}, right {good:.2f}")


def print_quality(loaded, encoder):
    for kind in LABELS:
        texts = Texts(kind, load_labelled(MIX_SETS[kind]), encoder)
        rules, encoded = log_rules(kind, texts.texts), log_shares(loaded.heads[kind], texts.vectors)
        mixed = mixed_anew(rules, encoded, texts)
        print(f"{MIX_SETS[kind]}, {len(texts.texts)} texts: rules {share(rules, texts.right):.1f} %, "
              f"encoder {share(encoded, texts.right):.1f} %, both {share(mixed, texts.right):.1f} %")  # fmt: skip
        foreign = ~texts.english
        print(f"  of which {int(foreign.sum())} without a common English word: rules "
              f"{share(rules[foreign], texts.right[foreign]):.1f} %, both "
              f"{share(mixed[foreign], texts.right[foreign]):.1f} %")  # fmt: skip
        print_reliability(mixed, texts.right)
    for name, english in ((name, english) for name in QUERIES.kept for english in (True, False)):
        if not (rows := in_languages(name, english=english)):
            continue
        alone = sum(classify_query(text).query_type == label for text, label in rows)
        both = sum(classify_query_with(text, loaded.shares("query", text)).query_type == label for text, label in rows)
        language = "English" if english else "other languages"
        print(f"{name} in {language}: rules {alone}/{len(rows)}, both {both}/{len(rows)}")


def main():
    began = time.perf_counter()
    loaded = load(MODEL_FOLDER)
    print(f"loaded in {time.perf_counter() - began:.2f} s")
    print_times(loaded)
    print_quality(loaded, open_encoder())


if __name__ == "__main__":
    main()

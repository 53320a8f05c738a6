"""What a response without a signal says about the state of the work (020 FR-018, FR-019, FR-022; decision 20).

The heuristic is the default behind `IntentClassifier`; a trained model of the BERT family can take its place. Where two signals fit,
the one higher in `PRECEDENCE` wins if it is a conclusion of the response: the later in the response, the more a cue counts.
"""

import re
from dataclasses import dataclass
from typing import Protocol

from oracle.classify.cues import COURTESY, CUES, WORKAROUND, SignalType
from oracle.classify.tokens import bounded, fold

PRECEDENCE: tuple[SignalType, ...] = (
    "delegation_recommended",
    "need_capability",
    "stuck",
    "partial_answer",
    "need_turn",
    "context_sufficient",
)
_SOUGHT = re.compile(
    r"^(?:\w+ ){0,3}(?:no|nothing|neither|none|nowhere|unfortunately)\b|^(?:however |but |so |still |and )?i (?:\w+ )?(?:have (?:\w+ )?)?(?:tried|searched|looked|attempted|cannot|can not|could not|do not|did not|was not|am not|have not|keep|still)\b"
    r"|\b(?:everything|whatever|wherever|everywhere) i\b|^(?:every|each|all|any)\b.{0,60}\b(?:empty|fail\w*|nothing|error\w*)"
)
MAX_CUES = 6
MAX_SENTENCE_CHARS = 500
MAX_SENTENCES = 40
_SETTLED = 2.0
"""Cues that add up to this let a signal win by precedence."""
_RIVAL_SHARE = 0.62
"""… unless another has so much more that this is a passing remark."""
_FENCE = re.compile(r"```[^`]{0,4000}(?:```|$)|`[^`\n]{0,200}`")
_SENTENCE_END = re.compile(r"(?<=[.!?\u2026;])\s+|\n+")
_NOT = re.compile(r"\b(ca|do|does|did|is|are|was|were|has|have|had|would|could|should|wo|must)n't\b")


@dataclass(frozen=True, slots=True)
class ResponseIntent:
    """The state of the work as a response tells it.

    Args:
        signal_type: one of the six signals (decision 15).
        confidence: how sure, 0.0-1.0.
        cues: the words that spoke for it; at most six. Empty where nothing spoke for another signal.
    """

    signal_type: SignalType
    confidence: float
    cues: tuple[str, ...] = ()


class IntentClassifier(Protocol):
    """Tells the intent of a response that carries no signal."""

    @property
    def name(self) -> str:
        """For the audit record: who said so."""
        ...

    def classify(self, text: str) -> ResponseIntent:
        """Classify a response; any text, also empty. Quick, and raises nothing."""
        ...


class HeuristicIntentClassifier:
    """The default: turns of phrase, weighed by where they stand."""

    @property
    def name(self) -> str:
        """For the audit record."""
        return "heuristic"

    def classify(self, text: str) -> ResponseIntent:
        """Classify a response by its turns of phrase."""
        return classify_response(text)


def classify_response(text: str) -> ResponseIntent:
    """Classify a response that carries no signal.

    Args:
        text: the visible text of the response; of a long one the beginning and the end count.

    Returns:
        The intent. An empty response is `stuck` with low confidence: nothing was delivered, nothing announced.
    """
    sentences = _sentences(text)
    if not sentences:
        return ResponseIntent("stuck", 0.4)
    scores: dict[SignalType, float] = dict.fromkeys(PRECEDENCE, 0.0)
    ending: dict[SignalType, float] = dict.fromkeys(PRECEDENCE, 0.0)
    cues: dict[SignalType, list[str]] = {signal: [] for signal in PRECEDENCE}
    for at, sentence in enumerate(sentences):
        place = _place_weight(at, len(sentences))
        for signal, weight, words in _spoken(sentence):
            scores[signal] += weight * place
            cues[signal].append(words)
            if at == len(sentences) - 1:
                ending[signal] += weight
    signal = _concluded(_winner(scores), ending, sentences)
    return ResponseIntent(signal, _confidence(scores, signal), tuple(dict.fromkeys(cues[signal]))[:MAX_CUES])


def _sentences(text: str) -> list[str]:
    plain = fold(_FENCE.sub(" code ", bounded(text)))
    plain = _NOT.sub(lambda match: f"{'can' if match.group(1) == 'ca' else 'will' if match.group(1) == 'wo' else match.group(1)} not", plain)
    pieces = [piece.strip(" \t-*#>\u2022") for piece in _SENTENCE_END.split(plain)]
    pieces = [piece[:MAX_SENTENCE_CHARS] for piece in pieces if any(char.isalnum() for char in piece)]
    stated = [piece for piece in pieces if not COURTESY.search(piece)]
    return (stated or pieces)[-MAX_SENTENCES:]


def _place_weight(at: int, count: int) -> float:
    """The conclusion stands at the end: the last two sentences count in full."""
    return 1.0 if at >= count - 2 else 0.7


def _spoken(sentence: str) -> list[tuple[SignalType, float, str]]:
    """The cues of a sentence; of each signal the strongest in full and the others for a third."""
    found: list[tuple[SignalType, float, str]] = []
    is_workaround = WORKAROUND.search(sentence) is not None
    for signal, rows in CUES.items():
        hits = [(weight, match.group().strip()[:60]) for weight, pattern in rows if (match := pattern.search(sentence))]
        for rank, (weight, words) in enumerate(sorted(hits, key=lambda hit: -hit[0])):
            share = 1.0 if rank == 0 else 1 / 3
            if is_workaround and signal in {"stuck", "need_capability"}:
                share *= 0.3
            found.append((signal, weight * share, words))
    return found


def _winner(scores: dict[SignalType, float]) -> SignalType:
    highest = max(score for signal, score in scores.items() if signal != "context_sufficient")
    for signal in PRECEDENCE[:-1]:
        if scores[signal] >= _SETTLED and scores[signal] >= _RIVAL_SHARE * highest:
            return signal
    return "context_sufficient"


def _concluded(signal: SignalType, ending: dict[SignalType, float], sentences: list[str]) -> SignalType:
    """The winner, corrected by how the response ends.

    Who ends by announcing a step goes on, whatever failed before; and where nothing was delivered, what is missing is everything.
    """
    obstacles = ("stuck", "need_capability", "partial_answer")
    if signal in obstacles and ending["need_turn"] >= _SETTLED and all(ending["need_turn"] > ending[other] for other in obstacles):
        return "need_turn"
    if signal == "partial_answer" and not any(_delivers(sentence) for sentence in sentences):
        return "stuck"
    return signal


def _delivers(sentence: str) -> bool:
    """Whether a sentence tells something found rather than something sought or not found."""
    return _SOUGHT.search(sentence) is None


def _confidence(scores: dict[SignalType, float], signal: SignalType) -> float:
    """Between 0.5 and 0.95, by how far the signal is ahead of the others."""
    others = max(score for other, score in scores.items() if other != signal)
    own = max(scores[signal], _SETTLED) if signal == "context_sufficient" else scores[signal]
    return round(min(0.95, 0.5 + 0.45 * max(0.0, own - 0.5 * others) / (own + 0.5)), 2)

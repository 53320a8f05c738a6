"""The state of the work, inferred from a response without a signal.

The heuristic is the default implementation of `IntentClassifier`; a trained model of the BERT family can replace it. It
uses learned weights of words and of two facts: how many sentences there are, and whether the agent speaks of itself and
denies something.
"""

import re

from oracle.classify.pooling import exponents, is_english, pooled
from oracle.classify.tokens import bounded, fold, word_set
from oracle.classify.types import SIGNALS, IntentShares, ResponseIntent
from oracle.classify.weights import RESPONSE_WEIGHTS, load_weights, probabilities
from signals import SignalType

MAX_SENTENCES = 30
MAX_SENTENCE_WORDS = 80
EMPTY_CONFIDENCE = 0.4
_STEM_CHARS = 5
_FENCE = re.compile(r"```[^`]{0,4000}(?:```|$)|`[^`\n]{0,200}`")
_SENTENCE_END = re.compile(r"(?<=[.!?\u2026;])\s+|\n+")
_NOT = re.compile(r"\b(ca|wo|do|does|did|is|are|was|were|has|have|had|would|could|should|must)n't\b")
_WHOLE = {"ca": "can", "wo": "will"}
_WORD = re.compile(r"[^\W\d_]+")
_COURTESY = re.compile(
    r"\b(?:let me know|happy to|glad to|feel free|if you(?:'d| would)? (?:like|want|need"
    r"|prefer)|shall i|do you want me|would you like"
    r"|hope (?:this|that) helps|anything else|any (?:other|further) questions|just (?:say|ask)|tell me if)\b"
)
"""Offers to the user; no evidence for the state of the work."""
_NEGATION = word_set(
    """
    not no never cannot nothing none neither nor without nobody nowhere nicht kein keine keinen nie nichts ne pas
    rien jamais sans nunca nada sin non mai niente senza nao nem sem niet geen nooit niets
    """
)
_FIRST_PERSON = word_set(
    """
    i me my mine myself we us our let ich mir mich mein wir je j mon ma nous yo mi mis he voy io mio ho vado eu meu
    minha vou ik mij mijn
    """
)
_OTHERS = word_set(
    """
    subagent subagents agent agents specialist specialists expert experts lawyer counsel dba team teams department
    reviewer auditor engineer engineers developer developers maintainer administrator admin human person someone
    somebody colleague architect analyst researcher professional consultant adviser advisor doctor pharmacist
    physician notary translator vendor hr legal officer board management committee model statistician psychologist
    accountant designer editor scientist manager supervisor operator technician electrician planner abteilung
    fachleute anwalt kollege kollegin equipe avocat juriste equipo abogado squadra avvocato advogado afdeling
    """
)
_ABILITIES = word_set(
    """
    access permission permissions right rights token key keys credentials password tool tools connector integration
    sandbox shell terminal role account login browser internet vpn license licence plugin command api ocr transcript
    interpreter privileges scope zugriff zugang berechtigung rechte werkzeug acces droit droits autorisation outil
    acceso permiso permisos herramienta accesso permesso strumento acesso permissao ferramenta toegang rechten
    """
)
_KINDS = {"OTHERS": _OTHERS, "ABILITY": _ABILITIES}


class HeuristicIntentClassifier:
    """The default: weighted words."""

    @property
    def name(self) -> str:
        """For the audit record."""
        return "heuristic"

    def classify(self, text: str) -> ResponseIntent:
        """Classify a response by its words."""
        return classify_response(text)


def classify_response(text: str) -> ResponseIntent:
    """Classify a response that has no signal.

    Args:
        text: the visible text of the response; of a long one only the beginning and the end are read.

    Returns:
        The intent. A response without words is `stuck` with low confidence: nothing was delivered, nothing announced.
    """
    if not _sentences(text):
        return ResponseIntent("stuck", EMPTY_CONFIDENCE)
    shares = response_shares(text)
    signal = max(SIGNALS, key=lambda one: shares[one])
    return ResponseIntent(signal, round(shares[signal], 4))


def classify_response_with(text: str, encoded: IntentShares | None) -> ResponseIntent:
    """Classify a response that has no signal, by rules and encoder.

    Args:
        text: the visible text of the response.
        encoded: the encoder's shares; `None`: the rules decide alone.
    """
    alone = classify_response(text)
    if encoded is None or not any(character.isalpha() for character in text):
        return alone
    shares = pooled(response_shares(text), encoded, *exponents("intent", is_english=is_english(text)))
    signal = max(shares, key=lambda label: shares[label])
    return ResponseIntent(signal, round(shares[signal], 4))


def response_shares(text: str) -> dict[SignalType, float]:
    """The share of each signal by the words alone; they add up to 1, and are calibrated."""
    return probabilities(load_weights(RESPONSE_WEIGHTS), response_features(text), SIGNALS)


def response_features(text: str) -> frozenset[str]:
    """The names of the features of a response."""
    sentences = _sentences(text)
    said = {word for sentence in sentences for word in sentence}
    found = {"bias", f"sentences:{min(len(sentences), 4)}"}
    found.update(f"word:{_stem(word)}" for word in said)
    found.update(f"word:{kind}" for kind, words in _KINDS.items() if said & words)
    found.add(f"itself:{bool(said & _FIRST_PERSON)}:negated:{bool(said & _NEGATION)}")
    return frozenset(found)


def _sentences(text: str) -> list[list[str]]:
    """The words of the sentences that are statements; of all of them if none is."""
    plain = fold(_FENCE.sub(" ", bounded(text)))
    plain = _NOT.sub(lambda match: f"{_WHOLE.get(match.group(1), match.group(1))} not", plain)
    pieces = [piece for piece in _SENTENCE_END.split(plain) if _WORD.search(piece)]
    stated = [piece for piece in pieces if not _COURTESY.search(piece)] or pieces
    return [_WORD.findall(piece)[:MAX_SENTENCE_WORDS] for piece in stated[-MAX_SENTENCES:]]


def _stem(word: str) -> str:
    return word if len(word) <= _STEM_CHARS else f"{word[:_STEM_CHARS]}~"

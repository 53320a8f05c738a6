"""`Domain`: everything that depends on the subject of questions; and the domain of a registry of node kinds."""

from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from pathlib import Path

from bt_runtime import Registry
from bt_runtime.text.data import dataclass
from oracle.classify.protocol import Classifier
from oracle.core.errors import OperatorError
from oracle.core.loading import imported
from oracle.core.sources import QueryTypes
from prompts import SegmentLibrary, load_segments

MOST_SUGGESTED = 4


class DomainError(OperatorError):
    """A domain cannot be used; the message has the places of all mistakes."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A question to begin with, on the first page.

    Args:
        question: the text.
        about: a word or two for what it is about.
        source: it is left out where no tool belongs to this group; empty: it never is.
    """

    question: str
    about: str
    source: str = ""


@dataclass(frozen=True, eq=False, kw_only=True)
class Domain:
    """A subject of questions.

    Args:
        name: a word.
        types: of queries. Those that name built-in groups (`code`, `vault`, `thread`, `web`) have their tools.
        classifier: makes what classifies; called once, with the first use.
        suggestions: for the first page, best first.
        examples: a question of each type, for what tries all of them; none of the shipped domain.
        folder: has `prompts` and `trees` of its own; `None`: the shipped ones.
        modules: names of modules whose tools and node kinds are used, as those of plugins.
    """

    name: str
    types: QueryTypes
    classifier: Callable[[], Classifier]
    suggestions: tuple[Suggestion, ...] = ()
    examples: tuple[str, ...] = ()
    folder: Path | None = None
    modules: tuple[str, ...] = ()

    @property
    def prompts(self) -> tuple[Path, ...]:
        """Its folder of prompt segments, if it has one of its own."""
        return () if self.folder is None else (self.folder / "prompts",)

    def segments(self, folder: Path | None = None, further: Sequence[Path] = ()) -> SegmentLibrary:
        """The segments of its prompts; those of the operator's folder and of plugins go before its own.

        Raises:
            PromptError: files cannot be used.
        """
        return load_segments(folder, further=(*self.prompts, *further), query_types=tuple(self.types.needs))

    @cached_property
    def shared_segments(self) -> SegmentLibrary:
        """The segments without those of operator and plugins; read once."""
        return self.segments()

    @property
    def trees(self) -> tuple[Path, ...]:
        """Its folder of trees, if it has one of its own."""
        return (self.folder / "trees",) if self.folder is not None and (self.folder / "trees").is_dir() else ()

    def suggested(self, groups: Collection[str]) -> tuple[Suggestion, ...]:
        """The first suggestions that tools of these groups can answer."""
        found = (each for each in self.suggestions if not each.source or each.source in groups)
        return tuple(found)[:MOST_SUGGESTED]


def shipped_domain() -> Domain:
    """The domain that is used where no other one is given."""
    found: Domain = imported("oracle.domains.code:DOMAIN")
    return found


def domain_in(registry: Registry) -> Domain:
    """The domain whose trees a registry reads."""
    return registry.host if isinstance(registry.host, Domain) else shipped_domain()

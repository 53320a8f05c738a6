"""Full-text search: one tokenizer, one stop list and one ranking for code, notes and threads.

`terms_of` reads a question, `TermMatcher` finds its terms in a line, `FileIndex` ranks the files of a folder.
"""

from oracle.core.search.index import DocumentPosition, FileIndex, FileReading, Ranked, Stamp, stamp_of
from oracle.core.search.query import MAX_QUERY_CHARS, Term, TermMatcher, terms_of
from oracle.core.search.ranking import Ranking, SearchDocument
from oracle.core.search.words import ARTICLES, IDENTIFIER, STOP_WORDS, fold, keys, stem, tokens

__all__ = [
    "ARTICLES",
    "IDENTIFIER",
    "MAX_QUERY_CHARS",
    "STOP_WORDS",
    "DocumentPosition",
    "FileIndex",
    "FileReading",
    "Ranked",
    "Ranking",
    "SearchDocument",
    "Stamp",
    "Term",
    "TermMatcher",
    "fold",
    "keys",
    "stamp_of",
    "stem",
    "terms_of",
    "tokens",
]

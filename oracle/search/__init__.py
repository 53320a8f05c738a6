"""Full-text search: one tokenizer, one stop list and one ranking for code, notes and threads.

`terms_of` reads a question, `Matcher` finds its terms in a line, `FileIndex` ranks the files of a folder.
"""

from oracle.search.index import FileIndex, Place, Ranked, Reading, Stamp, stamp_of
from oracle.search.query import MAX_QUERY_CHARS, Matcher, Term, terms_of
from oracle.search.ranking import Document, Ranking
from oracle.search.words import ARTICLES, IDENTIFIER, STOP_WORDS, fold, keys, stem, tokens

__all__ = [
    "ARTICLES",
    "IDENTIFIER",
    "MAX_QUERY_CHARS",
    "STOP_WORDS",
    "Document",
    "FileIndex",
    "Matcher",
    "Place",
    "Ranked",
    "Ranking",
    "Reading",
    "Stamp",
    "Term",
    "fold",
    "keys",
    "stamp_of",
    "stem",
    "terms_of",
    "tokens",
]

"""Full-text search: one tokenizer, one stop list and one ranking for code, notes and threads.

`terms_of` reads a question, `TermMatcher` finds its terms in a line, `FileIndex` ranks the files of a folder.
"""

"""The store: one append-only event log, runs, conversations, settings; on SQLite or PostgreSQL.

`open_store` opens it. One thread writes, in order and in groups; nothing is announced before its commit.
"""

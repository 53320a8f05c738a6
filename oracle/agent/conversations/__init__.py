"""Conversations: their messages, the protocol of their stores, and the history that a model is given."""

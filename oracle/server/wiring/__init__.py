"""Joins the parts: the one room that knows every adapter.

`agent` makes an `Oracle`, for a terminal or a host of its own; `service` makes everything that the HTTP service needs,
and is not loaded where nothing is served.
"""

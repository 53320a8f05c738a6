"""The process that serves: `serve` opens the service, listens, and ends without losing a word.

`process` is its life from start to end, `server` the HTTP server with signals that drain first, `protocol` what
bounds a connection, `early` an answer that comes before the end of its request, `sockets` where it listens, `lag`
measures how late the event loop is.
"""

from oracle.serving.errors import ServingError
from oracle.serving.process import Listening, run_service, serve

__all__ = ["Listening", "ServingError", "run_service", "serve"]

"""The HTTP service: the calls of the API over the store and the runs.

`app` joins them; `queries`, `runs`, `conversations`, `agent_settings` and `operations` are the calls; `guards` stands
in front of them, `auth` tells who may; `sse` streams, `waiting` answers whole; `bodies` and `errors` are what goes in
and out.
"""

from oracle.server.api.app import build_app, describe_service
from oracle.server.api.auth import Authenticator, Caller
from oracle.server.api.parts import ServiceParts
from oracle.server.api.sse import OpenStreams, StreamTiming

__all__ = ["Authenticator", "Caller", "OpenStreams", "ServiceParts", "StreamTiming", "build_app", "describe_service"]

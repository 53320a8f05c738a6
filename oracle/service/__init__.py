"""The HTTP service: the calls of the API over the store and the runs.

`app` joins them; `queries`, `runs`, `conversations`, `agent_settings` and `operations` are the calls; `guards` stands
in front of them, `auth` tells who may; `sse` streams, `waiting` answers whole; `bodies` and `errors` are what goes in
and out.
"""

from oracle.service.app import build_app, describe_service
from oracle.service.auth import Authenticator, Caller
from oracle.service.parts import ServiceParts
from oracle.service.sse import OpenStreams, StreamTiming

__all__ = ["Authenticator", "Caller", "OpenStreams", "ServiceParts", "StreamTiming", "build_app", "describe_service"]

"""The HTTP service: the calls of the API over the store and the runs.

`app` joins them; `queries`, `runs`, `conversations`, `me` and `operations` are the calls; `guards` stands
in front of them, `auth` tells who may; `sse` streams, `waiting` answers whole; `bodies` and `errors` are what goes in
and out.
"""

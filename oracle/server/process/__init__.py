"""The process that serves: `serve` opens the service, listens, and ends without losing a word.

`process` is its life from start to end, with the lag of its event loop, `server` the HTTP server with signals that
drain first, `workers` several processes behind one socket, `protocol` what bounds a connection, `sockets` where it
listens.
"""

"""The web console as it is served: the files that `web/` is built into, which a wheel has and a checkout makes.

    console = read_console()
    console.page(nonce="…")
    console.files["assets/index-3f9c.js"].in_encoding("gzip, br")

`files/` is written by `make run`, or by the build of a wheel; git ignores it. The page of exported runs lies there as
well, which is not served but filled (`oracle.replay.exports`).
"""

"""Recorded runs as files: an export of a run, and the runs that others have exported.

    text = render_run(history, "html")
    ImportedRuns(folder).keep(Path("run.json").read_bytes())

`formats` writes a history as JSON, as a picture of its tree, or as a page that shows it in a browser;
`redaction` leaves its texts out; `imported` keeps the exports of others.
"""

"""The service: HTTP API, process, console files, settings, plugins, and what joins all parts."""

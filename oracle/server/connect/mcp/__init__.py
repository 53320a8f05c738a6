"""The Model Context Protocol, of 2026-07-28 and 2025-11-25: Oracle as a server."""

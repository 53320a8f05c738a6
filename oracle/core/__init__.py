"""Code that all packages use: errors, chunks, encoding, retries, logs, metrics, traces, the full-text index."""

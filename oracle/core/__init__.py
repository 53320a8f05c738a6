"""What every room uses: errors, chunks, encoding, retries, logs, metrics, traces, the full-text index."""

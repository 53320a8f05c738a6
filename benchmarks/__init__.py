"""Benchmarks: each prints its figures as ratios against a baseline of the same run, for a time alone is noise."""

"""What is recorded of a run: ticks, outcomes, causes, statuses."""

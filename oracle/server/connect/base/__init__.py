"""What the adapters share: how a question is begun, and how its chunks become what a client reads."""

"""What connects the clients that teams have: an adapter for each protocol, all over one log of chunks."""

"""What OpenAI's clients speak."""

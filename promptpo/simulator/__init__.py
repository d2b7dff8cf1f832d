"""Check simulators that a language model wrote, fit them to a few real steps, and search in them for policies."""

"""Reference policies: random, zero and constant actions."""

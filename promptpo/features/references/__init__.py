"""Reference policies that know nothing: random, zero and constant actions."""

"""How far tuning takes programs: ``python -m benchmarks.tuning``."""

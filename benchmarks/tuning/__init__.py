"""The tuner alone: ``python -m benchmarks.tuning.paired``."""

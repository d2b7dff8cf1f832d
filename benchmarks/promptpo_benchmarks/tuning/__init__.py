"""The tuner alone: ``python -m promptpo_benchmarks.tuning.paired``."""

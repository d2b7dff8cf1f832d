"""Benchmarks: suites of tasks, a runner over methods and models, statistics and reports.

Importing this package registers its own environments with Gymnasium (``promptpo/...-v0``).
"""

from benchmarks import environments

__all__ = ["environments"]

"""Benchmarks: suites of tasks, a runner over methods and models, statistics and reports.

Importing `benchmarks.environments` registers its own environments with Gymnasium (``promptpo/...-v0``);
importing this package imports nothing, so that ``promptpo --help``, which lists the command, stays quick.
"""

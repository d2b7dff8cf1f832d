"""Benchmarks: suites of tasks, a runner over methods and models, statistics and reports.

A module in this folder is a command (``python -m benchmarks.NAME``), and so are the folders `tuning` and `icpi`.
The other folders are what commands are made of: `runner` runs the cells of a suite, `statistics` makes numbers
of them, `report` shows those; `measuring` has instruments, `environments` environments of our own, `suites` and
`structures` data.

Importing `benchmarks.environments` registers its environments with Gymnasium (``promptpo/...-v0``);
importing this package imports nothing, so that ``promptpo --help``, which lists the command, stays quick.
"""

"""Benchmarks: suites of tasks, a runner over methods and models, statistics and reports.

`worth`, `worth.screening`, `tuning.paired` and `paired_prompts` are commands (``python -m promptpo_benchmarks.NAME``). The other
folders are parts of commands: `runner` runs the cells of a suite, `statistics` computes numbers from them, `report`
presents those; `measuring` has instruments, `environments` our own environments, `suites` data. Completed studies are
kept beside their results, as they were run.

Importing `promptpo_benchmarks.environments` registers its environments with Gymnasium (``promptpo/...-v0``);
importing this package imports nothing, so that ``promptpo --help``, which lists the command, stays quick.
"""

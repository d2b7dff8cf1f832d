"""Numbers for programs: derivative-free tuning of the literals that a policy declares."""

from promptpo.llm.search.literals import read_params, read_table, write_params, write_table
from promptpo.tune.allocate import tune
from promptpo.tune.jobs import Job, Start, Tuned

__all__ = [
    "Job",
    "Start",
    "Tuned",
    "read_params",
    "read_table",
    "tune",
    "write_params",
    "write_table",
]

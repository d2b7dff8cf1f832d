"""Numbers for programs: derivative-free tuning of the literals that a policy declares."""

from promptpo.llm.search.literals import read_params, read_table, write_params, write_table
from promptpo.tune.allocate import tune
from promptpo.tune.jobs import Job, Start, Tuned
from promptpo.tune.lift import lift_constants, unlift_constants

__all__ = [
    "Job",
    "Start",
    "Tuned",
    "lift_constants",
    "read_params",
    "read_table",
    "tune",
    "unlift_constants",
    "write_params",
    "write_table",
]

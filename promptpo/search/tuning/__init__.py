"""Numbers for programs: derivative-free tuning of the literals that a policy declares."""

from promptpo.program.lift import lift_constants, unlift_constants
from promptpo.program.literals import read_params, read_table, write_params, write_table
from promptpo.search.tuning.allocate import tune
from promptpo.search.tuning.jobs import Job, Start, Tuned

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

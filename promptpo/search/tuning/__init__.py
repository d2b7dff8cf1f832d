"""Numbers for programs: derivative-free tuning of the literals that a policy declares."""

from promptpo.search.tuning.allocate import Tuning
from promptpo.search.tuning.batches import Batch, Start, Tuned

__all__ = ["Batch", "Start", "Tuned", "Tuning"]

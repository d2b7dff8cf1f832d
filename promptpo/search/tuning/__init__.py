"""Numbers for programs: derivative-free tuning of the literals that a policy declares."""

from promptpo.search.tuning.batches import Batch, Start
from promptpo.search.tuning.tuning import Tuning

__all__ = ["Batch", "Start", "Tuning"]

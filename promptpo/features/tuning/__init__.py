"""Numbers for programs: derivative-free tuning of the literals that a policy declares."""

from promptpo.features.tuning.batches import Batch, Start
from promptpo.features.tuning.tuning import Tuning

__all__ = ["Batch", "Start", "Tuning"]

"""Rollout buffers for observations in several parts, which TRPO can subsample."""

from __future__ import annotations

from typing import Any

from stable_baselines3.common.buffers import DictRolloutBuffer
from stable_baselines3.common.type_aliases import DictRolloutBufferSamples
from stable_baselines3.common.vec_env import VecNormalize


class SlicedObservations(dict[str, Any]):
    """Observations in several parts; a slice applies to all parts."""

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return SlicedObservations({name: part[key] for name, part in self.items()})
        return super().__getitem__(key)


class SlicedRolloutBuffer(DictRolloutBuffer):
    """A buffer whose samples TRPO's ``sub_sampling_factor`` can thin out, which otherwise takes arrays only."""

    def _get_samples(  # type: ignore[override]  # as its superclass has it
        self, batch_inds: Any, env: VecNormalize | None = None
    ) -> DictRolloutBufferSamples:
        samples = super()._get_samples(batch_inds, env)
        return samples._replace(observations=SlicedObservations(samples.observations))

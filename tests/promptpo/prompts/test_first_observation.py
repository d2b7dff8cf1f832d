"""The prompt shows the first observation that a policy gets."""

from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import pytest

from promptpo.core.feature import Plan
from promptpo.envs.task import Task
from promptpo.prompts import prompting
from promptpo.prompts.first_observation import missions_in_words, start_in_words
from promptpo.spec.describe import describe
from tests.promptpo.prompts.examples import context


@pytest.fixture(scope="module")
def cart() -> Any:
    """The spec of an environment with random initial states."""
    return describe(Task("CartPole-v1"))


def test_first_observation_is_from_a_real_episode(cart: Any) -> None:
    """With the spec's names and the range over the episodes sampled for the spec."""
    text = start_in_words(cart)
    env = gymnasium.make("CartPole-v1")
    first, _ = env.reset(seed=0)
    env.close()
    assert text.startswith(
        "First observation of an episode (in brackets the range over 4 episodes, none used for training): cart_position 0.0137 ("
    )
    assert round(float(first[0]), 3) == 0.014
    assert "pole_angle" in text


def test_only_the_first_prompt_shows_it() -> None:
    """The published procedure never does."""
    with_start = replace(context(), start="First observation: x 1.")
    first = Plan(1, 0, "first")
    assert "First observation: x 1." in prompting.policy_prompt(first, with_start, max_tokens=1000)
    published = replace(first, winners=())
    assert "First observation" not in prompting.policy_prompt(published, with_start, max_tokens=1000)


def test_shared_initial_state_and_grids_are_described(cart: Any) -> None:
    """Grids are printed by rows."""
    same = replace(cart, firsts=(np.array([0.0, 1.0, 0.5, 2.0]),) * 3, one_start=True)
    assert "(the same in all 3 episodes): cart_position 0, cart_velocity 1," in start_in_words(same)
    grid = {"image": np.eye(5, dtype=np.uint8), "mission": "go"}
    text = start_in_words(replace(same, firsts=(grid, grid)))
    assert 'mission "go"' in text
    assert "go" not in start_in_words(replace(same, firsts=(grid, grid)), texts=False)
    assert "image, one line per first index:\n1 0 0 0 0\n0 1 0 0 0" in text
    assert start_in_words(replace(same, firsts=())) == ""


def test_differing_missions_head_their_episodes() -> None:
    """Shortened between words; a mission shared by all episodes, and numbers, are left out."""
    observations = [
        {"image": np.zeros(2), "mission": text}
        for text in ("go to the red ball", "go to the grey box " + "far away " * 20)
    ]
    names = {"obs['mission']": "mission"}
    missions = missions_in_words(observations, [], names)
    assert missions[0] == 'mission "go to the red ball"'
    assert missions[1].endswith(' …"')
    assert len(missions[1]) < 120
    assert missions_in_words(observations[:1], [], names) == [""]
    assert missions_in_words(observations[:1], observations[1:], names) == missions[:1]
    assert missions_in_words([np.zeros(2), np.ones(2)], [], {}) == ["", ""]

"""States in which two programs decide differently."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from promptpo.prompts import prompting
from promptpo.prompts.decisions import differing_decisions
from promptpo.prompts.limits import PARTING
from promptpo_sandbox import Episode, Trajectory
from tests.promptpo.prompts.examples import BEST, PARTNER, context, plan

STARTS = {seed: str(seed + 1) for seed in range(9)}
NAMES = {"obs[0]": "place", "obs[1]": "step count"}


def play(seed: int, actions: list[Any], gain: float = 1.0) -> Episode:
    """Return an episode of a cart that moves by its actions, from a position that equals the seed."""
    positions = np.cumsum([float(seed), *(gain * float(np.sum(action)) for action in actions)])
    observations = [np.array([place, n]) for n, place in enumerate(positions)]
    rewards = [-abs(place) for place in positions[1:]]
    return Episode(
        seed,
        sum(rewards),
        len(actions),
        terminated=False,
        truncated=True,
        success=None,
        clipped=0,
        policy_seconds=0.0,
        trajectory=Trajectory(observations, actions, rewards),
    )


@given(
    st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=2, max_size=8),
    st.integers(0, 2),
    st.integers(1, 3),
)
def test_first_different_action_from_a_shared_initial_state(
    choices: list[list[int]], at: int, change: int
) -> None:
    """It is shown with the state that both had then; the largest difference in returns comes first, up to a limit."""
    ours = [play(seed, actions) for seed, actions in enumerate(choices)]
    theirs = [play(e, [*a[:at], a[at] + change, *a[at + 1 :]]) for e, a in enumerate(choices)]
    found = differing_decisions([ours, theirs], NAMES, STARTS)
    assert len(found) <= PARTING
    gaps = []
    for start, step, state, actions, returns in found:
        seed = int(start) - 1
        mine, theirs_at = choices[seed][at], choices[seed][at] + change
        assert (step, [*actions[0].values(), *actions[1].values()]) == (at, [str(mine), str(theirs_at)])
        assert state == [("place", str(seed + sum(choices[seed][:at]))), ("step count", str(at))]
        gaps.append(abs(ours[seed].return_ - theirs[seed].return_))
        assert returns[0] != returns[1]
    assert gaps == sorted(gaps, reverse=True)


def test_no_decision_without_a_shared_state() -> None:
    """Such as other initial states, states that differ before any action, equal decisions or returns, and single programs."""
    ours = [play(0, [1, 1]), play(1, [1, 2])]
    assert not differing_decisions([ours, [play(2, [1, 0]), play(3, [0, 2])]], NAMES, STARTS)
    assert not differing_decisions([ours, [play(0, [1, 1], gain=2.0)]], NAMES, STARTS)
    assert not differing_decisions([ours, [play(0, [1, 1])]], NAMES, STARTS)
    assert not differing_decisions([ours], NAMES, STARTS)
    assert not differing_decisions([], NAMES, STARTS)
    assert not differing_decisions([ours, []], NAMES, STARTS)


def test_action_vector_is_one_decision() -> None:
    ours, theirs = ([play(1, [np.array([x, 0.25])])] for x in (1.0, 2.0))
    ((_, _, _, actions, _),) = differing_decisions([ours, theirs], NAMES, STARTS)
    assert [" ".join(each.values()) for each in actions] == ["1 0.25", "2 0.25"]


def test_merge_request_lists_differing_decisions() -> None:
    """Each state has one line; without any, there is no sentence about them."""
    found = differing_decisions([[play(1, [0, 0])], [play(1, [0, 2])]], NAMES, STARTS)
    part = plan("merge", parents=(BEST, PARTNER))
    text = prompting.policy_prompt(part, context(decisions=found), max_tokens=9000)
    assert (
        "- initial state 2, step 1, place 1, step count 1: r2c2t does 0 and returns -2, r1c2 does 2 and returns -4"
        in text
    )
    assert "first such states" not in prompting.policy_prompt(part, context(), max_tokens=9000)

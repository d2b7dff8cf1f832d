"""How long an episode may be: what was played outranks what is stated."""

from typing import Any

import pytest

from promptpo.spec.facts import EpisodeEnd, common_length

CASES = [
    ([EpisodeEnd(30, terminated=False, truncated=True)] * 3, 30),
    (
        [EpisodeEnd(30, terminated=False, truncated=True), EpisodeEnd(12, terminated=True, truncated=False)],
        30,
    ),
    (
        [EpisodeEnd(30, terminated=False, truncated=True), EpisodeEnd(40, terminated=True, truncated=False)],
        None,
    ),
    (
        [EpisodeEnd(30, terminated=False, truncated=True), EpisodeEnd(20, terminated=False, truncated=True)],
        None,
    ),
    ([EpisodeEnd(40, terminated=True, truncated=False)] * 3, 40),
    ([EpisodeEnd(40, terminated=True, truncated=False)] * 2, None),
    ([EpisodeEnd(50, terminated=False, truncated=False)], None),
]


@pytest.mark.parametrize(("endings", "length"), CASES)
def test_the_common_length_of_episodes(endings: Any, length: Any) -> None:
    """Truncations at one length that no episode passed; or terminations, where there are enough and all agree."""
    assert common_length(endings) == length

"""Families: an environment whose variant is chosen by the seed, with its spaces, its spec and the naming of variants."""

from pathlib import Path
from typing import Any

import pytest
from gymnasium import spaces
from hypothesis import given
from hypothesis import strategies as st

from promptpo.core.candidate import Seeds
from promptpo.core.config import Config
from promptpo.envs.building import make_env
from promptpo.envs.family import union_of
from promptpo.envs.task import HELD_OUT_SEEDS, Task, Variant
from promptpo.envs.task_file import read_tasks
from promptpo.errors import UsageError
from promptpo.run.episodes import with_episodes
from promptpo.spec.describe import describe

HERE = "tests.promptpo.envs.lifts"


def family(*floors: Any, held_out: Any = (), **more: Any) -> Any:
    """Return a family of lifts with these numbers of floors."""
    return Task(
        f"{HERE}:Lift",
        variants=tuple(Variant({"floors": n}) for n in floors),
        held_out=tuple(Variant({"floors": n}) for n in held_out),
        **more,
    )


@given(st.integers(1, 12), st.integers(0, 10**7), st.integers(1, 60))
def test_consecutive_seeds_play_all_variants_equally_often(n: Any, start: Any, length: Any) -> None:
    """In any block of episodes, the numbers differ by at most one."""
    task = family(*range(n))
    played = [task.index_of(seed) for seed in range(start, start + length)]
    counts = [played.count(index) for index in range(n)]
    assert max(counts) - min(counts) <= 1


@pytest.mark.slow
def test_held_out_variants_have_seeds_of_their_own() -> None:
    """No seed of training, validation or test plays a held-out variant."""
    task, seeds = family(6, 8, held_out=(12, 13)), Seeds(3)
    for each in (seeds.train(50), seeds.validation(50), seeds.test(50)):
        assert {task.playable[task.index_of(seed)].env_kwargs["floors"] for seed in each} == {6, 8}
    assert {task.playable[task.index_of(seed)].env_kwargs["floors"] for seed in seeds.variants(50)} == {
        12,
        13,
    }
    assert not set(HELD_OUT_SEEDS) & {*seeds.train(50), *seeds.validation(50), *seeds.test(50)}


def test_seed_determines_variant_and_episode() -> None:
    """Whatever was played before."""
    task = family(6, 20)
    first, second = make_env(task), make_env(task)
    second.reset(seed=4)
    for seed in (5, 8, 5):
        one, two = first.reset(seed=seed)[0], second.reset(seed=seed)[0]
        assert (one == two).all()
        assert first.unwrapped.floors == second.unwrapped.floors == (6, 20)[seed % 2]


def test_observation_space_covers_all_variants() -> None:
    assert make_env(family(6, 8, held_out=(20,))).observation_space.high.tolist() == [20, 20]


def test_variants_of_different_shapes_are_refused() -> None:
    """The sentence names both variants and both spaces."""
    task = Task(f"{HERE}:Lift", variants=(Variant(), Variant({"told": True})))
    with pytest.raises(
        UsageError, match=r"as it is and told=true observe in different spaces, Box.*\(2,\).*\(3,\)"
    ):
        make_env(task)


def test_union_of_spaces_of_one_kind() -> None:
    """Boxes and discrete spaces take the wider bounds, containers part by part; other pairs have no union."""
    assert union_of(spaces.Discrete(3), spaces.Discrete(5, start=1)) == spaces.Discrete(6)
    one, two = (spaces.Dict({"a": spaces.Box(0, high, (1,))}) for high in (1, 2))
    assert union_of(one, two) == two
    assert union_of(spaces.Tuple([spaces.Discrete(2)]), spaces.Tuple([spaces.Discrete(3)])) is not None
    assert union_of(spaces.Discrete(2), spaces.Box(0, 1)) is None
    assert union_of(one, spaces.Dict({"a": spaces.Discrete(2)})) is None


@pytest.mark.parametrize(
    ("task", "says"),
    [
        (family(6, 6), "floors=6 is given twice"),
        (family(6, 7, held_out=(7,)), "floors=7 is both trained and held out"),
        (family(show_variant=True), "needs several variants"),
        (
            family(6, 7, held_out=(8,), show_variant=True),
            "held-out variant",
        ),
    ],
)
def test_conflicting_variants_are_refused_before_building(task: Any, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        task.validate()


def test_spec_lists_variants_but_not_held_out_ones() -> None:
    """Values that differ between variants are not shown as constants of the reward."""
    text = describe(family(6, 12, held_out=(15,)), reveal="source").text
    assert "One policy for 2 variants" in text
    assert "0: floors=6\n1: floors=12" in text
    assert "Which one it is may show in the observation" in text
    assert "also tested on variants that are not listed" in " ".join(text.replace("#", "").split())
    assert "15" not in text.split("VARIANTS")[1].split('"""')[1]
    assert "-1.0 / self.floors" in text


def test_bare_spec_only_counts_variants() -> None:
    bare = describe(family(6, 8, 12), reveal="bare").text
    assert "3 variants" in bare
    assert "floors=" not in bare


def test_shown_variant_is_part_of_the_observation() -> None:
    """The spec names the same key."""
    task = family(6, 8, show_variant=True)
    env = make_env(task)
    assert [env.reset(seed=seed)[0]["variant"] for seed in (0, 1, 4, 7)] == [0, 1, 0, 1]
    text = describe(task).text
    assert 'obs["variant"] says which one it is.' in text
    assert 'self.observation_0 = obs["observation"][0]' in text
    compile(text, "spec", "exec")


def test_variants_may_be_different_environments() -> None:
    """They are described in a sentence each, but not named in an anonymous spec."""
    task = Task(f"{HERE}:Lift", variants=(Variant(), Variant({}, f"{HERE}:Rope")))
    text = " ".join(describe(task).text.replace("#", "").split())
    assert "Rope: Another task with the same spaces." in text
    assert "describes variant 0" in text
    assert "Rope" not in describe(task, reveal="anonymous").text


def test_default_episodes_are_a_multiple_of_the_variants() -> None:
    """A number given by the user stays."""
    config = Config(family(*range(7)))
    chosen = with_episodes(config, 30)
    assert chosen.train_episodes % 7 == chosen.score_episodes % 7 == 0
    assert with_episodes(Config(family(*range(7)), episodes=4), 30).train_episodes == 4


def test_tasks_are_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "tasks.toml"
    path.write_text(
        '[[task]]\nkwargs = { floors = 6 }\n[[task]]\nenv = "B-v0"\n[[held_out]]\nkwargs = { floors = 9 }\n'
    )
    assert read_tasks(path) == ((Variant({"floors": 6}), Variant({}, "B-v0")), (Variant({"floors": 9}),))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[task]]\n[[tasks]]\n", "tasks: extra inputs are not permitted; the file has"),
        ("[task]\n", "task: .* with two brackets"),
        ("[[task]]\nfloors = 6\n", "task 0 floors: extra inputs are not permitted; .* kwargs"),
        ("[[task]]\nkwargs = 6\n", "task 0 kwargs: .*; .* kwargs is a table"),
        ("[[held_out]]\nkwargs = {}\n", r"task: field required; the file has \[\[task\]\]"),
        ("[[task", "cannot read"),
    ],
)
def test_malformed_task_file_gets_one_sentence(tmp_path: Path, text: str, says: str) -> None:
    """It says what is wrong and what the file may contain."""
    path = tmp_path / "tasks.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=says):
        read_tasks(path)

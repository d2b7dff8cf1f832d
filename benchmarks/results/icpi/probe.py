"""How well an engine does each of ICPI's four jobs, before anyone pays for a run.

`python benchmarks/results/icpi/probe.py ENGINE [--base-url URL] [--domains Chain,Maze] [--examples 20,60] [--questions 12]`;
paid answers are kept in --out, so the same command again asks for none of them. It needs the repository at revision
c158caf9.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from promptpo.core.candidate import Seeds
from promptpo_baselines.icpi.assembly import stream
from promptpo_baselines.icpi.codecs import flatten
from promptpo_baselines.icpi.examples import ExampleBook, Measure
from promptpo_baselines.icpi.model import InContextModel
from promptpo_baselines.icpi.prompts import PromptBuilder, Question
from promptpo_baselines.icpi.profile import KINDS
from promptpo_baselines.icpi.values import Kind, Transition

if TYPE_CHECKING:
    from promptpo_baselines.icpi.engines.base import Engine
    from promptpo_baselines.icpi.profile import Profile
    from promptpo_baselines.icpi.setting import Setting

NEEDED_ACCURACY = 0.9
"""Share of next states that must be right on the chain before a run is worth its price."""

_DRAWS = 8
"""Next states drawn to see which of their numbers are left to chance."""


@dataclass(frozen=True, slots=True)
class ProbeRow:
    """One domain, one kind of question, one number of examples.

    Attributes:
        env_id: The domain.
        kind: The question. For the policy, right means legal: there is no one true answer.
        examples: Random transitions in the memory that the prompts are drawn from.
        asked: Questions asked.
        valid: Share of valid answers at the first try.
        right: Share of right answers among all.
        right_seen: The same where state and action were among the examples; None without such questions.
        right_new: The same where they were not.
    """

    env_id: str
    kind: Kind
    examples: int
    asked: int
    valid: float
    right: float
    right_seen: float | None
    right_new: float | None


def probe(
    setting: Setting,
    engine: Engine,
    profile: Profile,
    *,
    examples: Sequence[int],
    questions: int,
    seed: int = 0,
    measure: Measure | None = None,
) -> Iterator[ProbeRow]:
    """Ask questions whose answers are known, from random transitions.

    Args:
        setting: The environment.
        engine: Who is asked.
        profile: How prompts are made; there is one try per question.
        examples: Sizes of the memory to measure at.
        questions: Per kind and size; the same for all sizes.
        seed: Decides transitions and prompts.
        measure: Counts tokens as the engine does.
    """
    episodes = list(_random_episodes(setting, max(examples), seed))
    held_out = _held_out(setting, questions, seed)
    for size in examples:
        book = ExampleBook(setting.codec, profile, max_excerpt=setting.max_excerpt, measure=measure or len)
        shown = list(_first(episodes, size))
        for episode in shown:
            book.add_episode(episode)
        builder = PromptBuilder(setting.codec, book, profile, stream(seed, "prompts"), measure)
        model = InContextModel(setting.codec, builder, book, engine, profile, stream(seed, "components"), 1)
        seen = {_question_key(setting, step) for episode in shown for step in episode}
        for kind in KINDS:
            steps = [step for step in held_out if kind != "next" or not step.terminal]
            if steps:
                yield _row(setting, model, kind, size, steps, seen, profile)


def _row(
    setting: Setting,
    model: InContextModel,
    kind: Kind,
    size: int,
    steps: Sequence[Transition],
    seen: set[tuple[str, int]],
    profile: Profile,
) -> ProbeRow:
    answers = model.ask([_question(setting, kind, step, hint=profile.hint) for step in steps])
    right = [
        answer is not None and _is_right(setting, kind, step, answer)
        for step, answer in zip(steps, answers, strict=True)
    ]
    known = [_question_key(setting, step) in seen for step in steps]
    return ProbeRow(
        setting.env_id,
        kind,
        size,
        len(steps),
        _share([answer is not None for answer in answers]) or 0.0,
        _share(right) or 0.0,
        _share([ok for ok, old in zip(right, known, strict=True) if old]),
        _share([ok for ok, old in zip(right, known, strict=True) if not old]),
    )


def table(rows: Sequence[ProbeRow]) -> str:
    """The rows as aligned text."""
    lines = [
        f"{'domain':<30} {'as':<7} {'examples':>8} {'asked':>6} {'valid':>6} {'right':>6} {'seen':>6} {'new':>6}"
    ]
    lines += [
        f"{row.env_id:<30} {row.kind:<7} {row.examples:>8} {row.asked:>6} {row.valid:>6.2f} {row.right:>6.2f} "
        f"{_cell(row.right_seen)} {_cell(row.right_new)}"
        for row in rows
    ]
    return "\n".join(lines)


def verdict(rows: Sequence[ProbeRow]) -> str:
    """One sentence on whether a run is worth its price."""
    chain = [row for row in rows if row.env_id == "promptpo/Chain-v0" and row.kind == "next"]
    worst = [row for row in (chain or rows) if row.kind == "next"]
    if not worst:
        return "No next states were asked about."
    most = max(worst, key=lambda row: row.examples)
    said = f"{most.right:.2f} of the next states on {most.env_id} are right with {most.examples} examples"
    if most.right < NEEDED_ACCURACY:
        return f"{said}, less than {NEEDED_ACCURACY}: ICPI can hardly be expected to learn with this engine."
    return f"{said}: good enough to try."


def _cell(value: float | None) -> str:
    return f"{'-':>6}" if value is None else f"{value:>6.2f}"


def _share(values: Sequence[bool]) -> float | None:
    return sum(values) / len(values) if values else None


def _question(setting: Setting, kind: Kind, step: Transition, *, hint: bool) -> Question:
    state = setting.codec.obs(step.obs, hint=hint)
    if kind == "policy":
        return Question(kind, state)
    return Question(kind, state, step.action, step.terminal if kind == "reward" else None)


def _question_key(setting: Setting, step: Transition) -> tuple[str, int]:
    return setting.codec.obs(step.obs, hint=False), step.action


def _is_right(setting: Setting, kind: Kind, step: Transition, answer: str) -> bool:
    codec = setting.codec
    if kind == "done":
        return codec.parse_done(answer) == step.terminal
    if kind == "reward":
        return answer == codec.reward(step.reward)
    if kind == "policy":
        return codec.parse_action(answer) is not None
    predicted = codec.parse_obs(answer)
    truth = codec.parse_obs(codec.obs(step.next_obs, hint=False))  # rounded as the text is
    if predicted is None or truth is None:
        return False
    chance = _left_to_chance(setting, step)
    return all(n in chance or a == b for n, (a, b) in enumerate(zip(predicted, truth, strict=True)))


def _left_to_chance(setting: Setting, step: Transition) -> set[int]:
    """Which numbers of the next state nobody can predict."""
    if setting.domain is None:
        return set()
    rng = np.random.default_rng(0)
    drawn = [setting.domain.step(step.obs, step.action, rng)[0] for _ in range(_DRAWS)]
    return {n for n, values in enumerate(zip(*drawn, strict=True)) if len(set(values)) > 1}


def _first(episodes: Sequence[Sequence[Transition]], size: int) -> Iterator[Sequence[Transition]]:
    """The beginning of a list of episodes, `size` transitions in all."""
    left = size
    for episode in episodes:
        if left <= 0:
            return
        yield episode[:left]
        left -= len(episode)


def _held_out(setting: Setting, questions: int, seed: int) -> list[Transition]:
    """Transitions of other episodes; half of them the ends of episodes, which are rare otherwise."""
    rng = np.random.default_rng([seed, 1])
    pool = [step for episode in _random_episodes(setting, 20 * questions, seed + 1) for step in episode]
    ends = [step for step in pool if step.terminal]
    others = [step for step in pool if not step.terminal]
    picked = []
    for group in (others, ends):
        wanted = min(len(group), (questions + 1) // 2)
        picked += [group[int(n)] for n in rng.permutation(len(group))[:wanted]]
    return picked[:questions]


def _random_episodes(setting: Setting, transitions: int, seed: int) -> Iterator[list[Transition]]:
    """Whole episodes of a random policy, with at least so many transitions in all."""
    rng = np.random.default_rng([seed, 0])
    env = setting.make_env()
    first_action = int(getattr(env.action_space, "start", 0))
    taken = 0
    try:
        for n in count():
            if taken >= transitions:
                return
            obs = flatten(env.reset(seed=Seeds(seed).train(1, start=n)[0])[0])
            episode: list[Transition] = []
            ended = False
            while not ended:
                action = int(rng.integers(setting.n_actions))
                observation, reward, terminal, truncated, _ = env.step(first_action + action)
                after = flatten(observation)
                episode.append(Transition(obs, action, float(reward), bool(terminal), after, bool(truncated)))
                obs, ended = after, bool(terminal or truncated)
            taken += len(episode)
            yield episode
    finally:
        env.close()


def main() -> None:
    """Ask, and print the table."""
    from promptpo.core.config import Budget
    from promptpo.core.journal import Journal
    from promptpo.core.budget import Ledger
    from promptpo_baselines.icpi.engines.choose import choose_engine
    from promptpo_baselines.icpi.profile import PROFILES
    from promptpo_baselines.icpi.setting import setting_for

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine")
    parser.add_argument("--base-url")
    parser.add_argument("--domains", default="Chain,DistractorChain,Maze,MiniCatch,MiniInvaders,PointMass")
    parser.add_argument("--examples", default="20,60,200")
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--max-usd", type=float)
    parser.add_argument("--out", type=Path, default=Path("runs/icpi-probe"))
    given = parser.parse_args()
    rows: list[ProbeRow] = []
    with Journal(given.out) as journal:
        ledger = Ledger(Budget(steps=None, usd=given.max_usd), journal.events)
        for name in given.domains.split(","):
            setting = setting_for(f"promptpo/{name}-v0")
            chosen = choose_engine(given.engine, setting, base_url=given.base_url, ledger=ledger, journal=journal)
            rows += probe(
                setting, chosen.engine, PROFILES["fast"],
                examples=[int(size) for size in given.examples.split(",")], questions=given.questions,
                measure=chosen.measure,
            )  # fmt: skip
            chosen.close()
    print(f"{table(rows)}\n{verdict(rows)}")


if __name__ == "__main__":
    main()

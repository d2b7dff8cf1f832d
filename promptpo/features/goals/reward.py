"""The reward program for a goal in words: written by the model, tested on a few episodes, checked against preferences."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from promptpo.core.budget import affordable_units
from promptpo.core.candidate import Seeds
from promptpo.core.evaluate import ANSWER_PROBLEMS
from promptpo.envs.pictures import pictures_in
from promptpo.envs.task import RewardProgram
from promptpo.errors import BudgetSpentError, ProviderError, RewardFaultError, UsageError
from promptpo.features.goals.preferences import Preferences
from promptpo.features.goals.prompts import Preference, describe_episode, preferences_in
from promptpo.features.goals.settings import GOAL_EPISODES, GoalSettings
from promptpo.features.goals.strips import Camera, strips_of
from promptpo.llm.base import Message
from promptpo.program import Program, answers
from promptpo.program.reference_policies import programs
from promptpo.program.reward_program import reward_program
from promptpo.prompts import prompting
from promptpo.prompts.feedback import number
from promptpo.rollouts import Job
from promptpo.spec.reading import names_of
from promptpo_sandbox import Trial

if TYPE_CHECKING:
    from promptpo.core.feature import SearchContext
    from promptpo.llm.base import Image
    from promptpo.spec import TaskSpec
    from promptpo_sandbox import Episode, Record, Rollout

AsksPerson: TypeAlias = Callable[
    [int, int, "tuple[str, Episode]", "tuple[str, Episode]"], Awaitable[Preference]
]
"""Takes a pair's number, the number of pairs, and both episodes with their names."""


BEFORE = "before"
"""Journal key of preferences among the first episodes."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """Reward program chosen for a goal before the search.

    Attributes:
        reward: The program.
        policies: Policies written while it was judged, which become candidates.
        succeeded: Successful episodes and number of episodes by the program's ``success``, by policy.
    """

    reward: RewardProgram
    policies: tuple[str, ...] = field(default=())
    succeeded: Mapping[str, tuple[int, int]] = field(default_factory=dict)


class GoalReward:
    """Finds the reward program for a goal.

    Args:
        context: Context of the run, with the environment's own reward.
        described: Returns the spec of the task under a reward program.
        person: Asks a person which of two episodes is closer to the goal; None asks the model.
        camera: Renders film strips; None if the model accepts no images.
    """

    def __init__(
        self,
        context: SearchContext,
        described: Callable[[RewardProgram], TaskSpec],
        person: AsksPerson | None = None,
        camera: Camera | None = None,
    ) -> None:
        self._spec, self._work, self._config = context.spec, context.work, context.config
        self._described, self._horizon, self._person = described, context.horizon, person
        self._camera = camera
        self._programs = dict(programs(context.spec.action_space))

    async def choose(self) -> Chosen:
        """Return the program, chosen once per run.

        Raises:
            RewardFaultError: No working program was written.
            ProviderError: The model did not answer.
            BudgetSpentError: The budget is spent.
        """
        found: Chosen = await self._work.journal.once_async("decision", "goal", self._choose, Chosen)
        return found

    async def _choose(self) -> Chosen:
        program, episodes = await self._write()
        program, known = await self._check_preferences(program, episodes)
        policy = self._programs.get("policy")
        return Chosen(program, (policy,) if policy else (), known.succeeded)

    # Writing

    async def _write(self) -> tuple[RewardProgram, Mapping[str, Episode]]:
        """Return a program that works on a few episodes, and these episodes."""
        request = question(self._spec, self._horizon)
        text = await self._ask("goal.reward", "reward", request)
        repairs = self._config.repairs if self._work.supports("repair") else 0
        for n in range(1, repairs + 2):
            source, program, episodes, problem = await self._try_out(text)
            if program is not None and not problem:
                return program, episodes
            if n > repairs:
                break
            asked = prompting.render(
                "repair", subject="reward program", what="failed", source=source, error=problem, detail=""
            )
            text = await self._ask(f"goal.reward.repair{n}", "repair", f"{request}\n{asked}")
        raise RewardFaultError(
            f"the model wrote no working reward for the goal: {problem.rstrip('.')}. Rephrase the goal (--goal), "
            "or pass a program of your own (--reward)."
        )

    async def _try_out(self, text: str) -> tuple[str, RewardProgram | None, Mapping[str, Episode], str]:
        """Return the source in an answer, its program, a few episodes under it, and its problem."""
        answer = answers.extract_program(text, class_name="Reward")
        if answer.problem:
            problem = ANSWER_PROBLEMS[answer.problem].replace("Policy", "Reward")
            return "", None, {}, f"the answer {problem}."
        try:
            program = reward_program(answer.source, goal=self._config.of(GoalSettings).goal)
            episodes = await self.episodes(program)
        except (UsageError, RewardFaultError) as wrong:
            return answer.source, None, {}, str(wrong)
        return answer.source, program, episodes, _flat(episodes)

    async def _ask(
        self, key: str, purpose: Any, text: str, system: str = "", images: tuple[Image, ...] = ()
    ) -> str:
        system = system or system_prompt(self._config.of(GoalSettings).goal, self._spec)
        completion = await self._work.ask(key, purpose, [Message("user", text, images)], system=system)
        return completion.text

    # Episodes

    async def episodes(self, reward: RewardProgram, only: Sequence[str] = ()) -> dict[str, Episode]:
        """Score a few episodes by a program; the episodes are the same for all programs.

        Args:
            reward: The program.
            only: Names of the policies to play; by default all.

        Raises:
            RewardFaultError: The program failed.
            BudgetSpentError: No environment steps are left.
        """
        seeds = Seeds(self._config.seed).train(2)
        programs = {name: source for name, source in self._programs.items() if name in only or not only}
        jobs = [
            replace(
                job_of(self._spec, source, seeds[:1] if name == "zero" else seeds, self._length),
                reward=reward.source,
            )
            for name, source in programs.items()
        ]

        def ran(rollouts: Sequence[Rollout]) -> dict[str, Episode]:
            return {
                f"{name} {n}": episode
                for name, rollout in zip(programs, rollouts, strict=True)
                for n, episode in enumerate(rollout.episodes, 1)
                if episode.failure is None and episode.steps
            }

        def note(rollouts: Sequence[Rollout]) -> dict[str, Any]:
            found = ran(rollouts)
            return {
                "source": reward.source,
                "returns": {name: episode.return_ for name, episode in found.items()},
                "parts": {name: dict(episode.parts) for name, episode in found.items()},
            }

        key = f"{reward.digest}.{'+'.join(programs)}"
        return ran(await self._work.play("reward", key, jobs, note=note))

    @property
    def _length(self) -> int:
        """Maximum length of these episodes, in steps."""
        return affordable_units("reward", self._config.budget.steps, GOAL_EPISODES, self._horizon)

    # Preferences

    async def _check_preferences(
        self, program: RewardProgram, episodes: Mapping[str, Episode]
    ) -> tuple[RewardProgram, Preferences]:
        """Return the program, or a better one if preferences contradict it, with the preferences under the program returned."""
        known = Preferences.of((), (), episodes)
        if self._person is None and not self._work.supports("judge"):
            return program, known
        try:
            episodes = {**episodes, **await self._first_policy(program)}
            known = await self._work.journal.once_async(
                "preference", BEFORE, partial(self._compare, episodes), Preferences
            )
            if known.against or known.always_succeeds:
                return await self._rewrite(program, episodes, known)
        except (ProviderError, BudgetSpentError):  # the present program works
            pass
        return program, known

    async def _first_policy(self, program: RewardProgram) -> dict[str, Episode]:
        """Return episodes of a first policy for the goal, which later becomes a candidate."""
        spec = self._described(program)
        asked = prompting.render("first", variant=1, published=True, lasting="")
        system = prompting.system_prompt(spec, self._config)
        answer = answers.extract_program(await self._ask("goal.policy", "policy", asked, system))
        if answer.problem:
            return {}
        self._programs["policy"] = answer.source
        played = await self.episodes(program, only=["policy"])
        if not played:
            del self._programs["policy"]
        return played

    async def _compare(self, episodes: Mapping[str, Episode]) -> Preferences:
        """Return the preferences of a person or the model among these episodes, with their returns."""
        pairs = [(a, b) for a, b in itertools.combinations(episodes, 2) if a.split()[0] != b.split()[0]]
        if self._person is not None:
            return Preferences.of(pairs, await self._by_person(pairs, episodes), episodes)
        asked = prompting.render("goal_pairs", episodes=self._tables(episodes), pairs=pairs)
        images = await self._strips(episodes)
        text = await self._ask(f"goal.pairs.{BEFORE}", "judge", asked, images=images)
        return Preferences.of(pairs, preferences_in(text, len(pairs)), episodes)

    async def _by_person(
        self, pairs: Sequence[tuple[str, str]], episodes: Mapping[str, Episode]
    ) -> list[Preference | None]:
        """Ask a person about each pair; every answer is on disk before the next question."""
        assert self._person is not None  # noqa: S101 - only called with a person
        person, found = self._person, []
        for n, (a, b) in enumerate(pairs, 1):
            ask = partial(person, n, len(pairs), (a, episodes[a]), (b, episodes[b]))
            found.append(await self._work.journal.once_async("decision", f"{BEFORE}.{a}.{b}", ask))
        return found

    async def _rewrite(
        self, program: RewardProgram, episodes: Mapping[str, Episode], before: Preferences
    ) -> tuple[RewardProgram, Preferences]:
        """Return a rewritten program if it agrees with more of the same preferences, else the present one, with its preferences."""
        concerned = {name for pair in before.against for name in pair[:2]} or set(episodes)
        shown = {name: episode for name, episode in episodes.items() if name in concerned}
        asked = prompting.render(
            "goal_rewrite",
            source=program.source.strip(),
            disagreements=before.disagreements(),
            successes=before.on_success(),
            episodes=self._tables(shown),
        )
        text = await self._ask("goal.rewrite", "reward", asked, images=await self._strips(shown))
        _, other, again, problem = await self._try_out(text)
        if other is None or problem:
            return program, before
        after = before.by(again)
        self._work.journal.once("preference", "after", lambda: after)
        better = (len(after.against), after.always_succeeds) < (len(before.against), before.always_succeeds)
        return (other, after) if better else (program, before)

    def _tables(self, episodes: Mapping[str, Episode]) -> list[tuple[str, str]]:
        """Return each episode's name and description."""
        names = names_of(self._spec.text)
        return [(name, describe_episode(episode, names, self._horizon)) for name, episode in episodes.items()]

    async def _strips(self, episodes: Mapping[str, Episode]) -> tuple[Image, ...]:
        """Return film strips of the episodes, for a model that accepts images."""
        return await strips_of(self._camera, {f"Episode {name}": e for name, e in episodes.items()})


def job_of(spec: TaskSpec, source: str, seeds: Iterable[int], horizon: int) -> Job:
    """Return a job for episodes to describe; for images, it records what the policy saw in them."""
    values = Program.from_source(source).values
    kept: Record = "seen" if pictures_in(spec.observation_space) else "info"
    trials = tuple(Trial(seed, values, horizon) for seed in seeds)
    return Job(source, trials, record=kept, stop_on_failure=False)


def system_prompt(goal: str, spec: TaskSpec) -> str:
    """Return the system prompt of requests about a goal."""
    return prompting.render("goal_system", **prompting.task_of(spec), goal=goal.strip())


def question(spec: TaskSpec, horizon: int | None) -> str:
    """Return the request for a reward program.

    Args:
        spec: The task.
        horizon: Maximum episode length, in steps; None if unknown.
    """
    info = [(name, number(low), number(high)) for name, (low, high) in spec.info.items()]
    return prompting.render("goal_reward", horizon=horizon, info=info)


def _flat(episodes: Mapping[str, Episode]) -> str:
    """Describe the problem of a reward that is the same in every step; empty if it is not."""
    rewards = {float(r) for e in episodes.values() if e.trajectory for r in e.trajectory.rewards}
    if len(rewards) != 1:
        return ""
    return (
        f"Every step of {len(episodes)} episodes of random and zero actions gave a reward of {number(rewards.pop())}: it is "
        "constant, so a search has no signal. Make every step show how close the goal is."
    )

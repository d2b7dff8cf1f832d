"""The work on one training run: learn, evaluate on validation seeds at certain step counts, checkpoint, test."""

from __future__ import annotations

import contextlib
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stable_baselines3.common.callbacks import BaseCallback

from promptpo.core.candidate import Seeds
from promptpo.envs.building import make_env
from promptpo.envs.family import longest
from promptpo.prompts.shortening import count_of
from promptpo.rollouts.evaluation import Evaluation
from promptpo_baselines.algorithms import display_name
from promptpo_baselines.building import (
    agent_of,
    build_envs,
    build_model,
    hyperparameters_of,
    load_model,
    refill,
)
from promptpo_baselines.checkpoints import BUFFER, MODEL, Checkpoints, Record
from promptpo_baselines.evaluation import Evaluator
from promptpo_baselines.hyperparameters import ON_POLICY, fit_to_budget, whole_steps
from promptpo_baselines.play import load_agent
from promptpo_baselines.progress import Display
from promptpo_baselines.results import build_training_result, curve_point
from promptpo_baselines.settings import TrainingSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from stable_baselines3.common.base_class import BaseAlgorithm
    from stable_baselines3.common.vec_env import VecEnv


class PausedRun(Exception):  # noqa: N818 - not an error
    """The time limit of this call has passed."""


class TrainingRun:
    """The state of one process's work on a run.

    Args:
        settings: Settings of the run.
        directory: The run directory.
        display: Shows the progress.
    """

    def __init__(self, settings: TrainingSettings, directory: Path, display: Display) -> None:
        self.settings, self.directory, self.display = settings, directory, display
        self.seeds = Seeds(settings.seed)
        self.checkpoints = Checkpoints(directory)
        self.evaluator = Evaluator(settings.task)
        saved = self.checkpoints.latest()
        self.record = self.checkpoints.read(saved) if saved else Record()
        row = hyperparameters_of(settings)
        self.searched: dict[str, Any] | None = None
        if settings.search:
            from promptpo_baselines.search import search

            row, searched = search(settings, row, directory, display)
            self.searched, settings = searched, replace(settings, steps=settings.steps - searched["steps"])
        self.settings = settings
        steps = settings.training_steps
        self.row = fit_to_budget(row, settings.algorithm, steps, self.record.steps)
        self.on_policy = settings.algorithm in ON_POLICY
        self.envs = self._envs(saved)
        self.model = self._model(saved)
        self.last_step = whole_steps(self.row, settings.algorithm, steps, self.record.steps)
        self.episodes = settings.episodes_per_evaluation(self._horizon())
        self.pause_at: float | None = None
        self._begun_at = self.record.steps
        self._since = time.monotonic()

    def _envs(self, saved: Path | None) -> VecEnv:
        return build_envs(self.settings, self.row, steps_taken=self.record.steps, saved=saved)

    def _new_model(self) -> BaseAlgorithm:
        return build_model(self.settings, self.row, self.envs)

    def _model(self, saved: Path | None) -> BaseAlgorithm:
        if saved is None:
            return self._new_model()
        taken = self.record.steps
        model = load_model(self.settings, self.row, saved / MODEL, self.envs, steps_taken=taken)
        if not self.on_policy:
            refill(model, saved / BUFFER)
        return model

    @property
    def next_evaluation(self) -> int:
        """Steps at which the next evaluation is due."""
        record = self.record
        if not record.curve:
            return 0
        before, spent = [0, *(int(point.get("validation_steps", 0)) for point in record.curve)][-2:]
        return self.settings.next_evaluation(record.curve[-1]["steps"], spent, spent - before)

    def _horizon(self) -> int | None:
        """Return the maximum episode length, as far as it is stated."""
        task = self.settings.task
        with contextlib.closing(make_env(task)) as env:
            return task.max_episode_steps or longest(env)

    @property
    def title(self) -> str:
        """The activity, in words."""
        return f"{display_name(self.settings.algorithm)} on {self.settings.task.name}"

    @property
    def interrupted(self) -> str:
        """Sentence about what is kept after Ctrl-C."""
        kept = self.record.steps if self.checkpoints.latest() else 0
        return (
            f"  interrupted; {self.directory} keeps what was learned in {kept:,} steps; repeat the command "
            "with --resume to continue"
        )

    def complete(self) -> dict[str, Any]:
        """Train to the end and test.

        Returns:
            The content of ``result.json``.
        """
        settings, record = self.settings, self.record
        planned = self.last_step
        self.display.on_start(
            f"{self.title}, seed {settings.seed} ({self.row.source})", record.steps, planned
        )
        self.display.line(
            f"  of {settings.steps:,} steps; the rest is for validation, each time with {count_of(self.episodes, 'episode')}"
        )
        if settings.simulator is not None and not record.steps:
            self._learn_in_simulator(settings.simulator)
        self._since = time.monotonic()
        if record.steps < planned:
            self.model.learn(
                planned - record.steps, callback=self._callbacks(), reset_num_timesteps=record.steps == 0
            )
        if not record.curve or record.curve[-1]["steps"] < self.model.num_timesteps:
            self.evaluate()
        play, n = self._best(), settings.test_episodes
        tests = [play(self.seeds.test(n))]
        if settings.task.held_out:
            tests.append(play(self.seeds.variants(n)))
        return build_training_result(
            settings,
            self.row,
            record,
            tests=tests,
            final=self._final(tests[0]),
            model=self.model,
            searched=self.searched,
        )

    def _learn_in_simulator(self, run: str) -> None:
        """Learn in the simulator of a run before the first real step."""
        from promptpo_baselines.simulated import learn_in_simulator, simulation_of

        settings = self.settings
        self.display.line(f"  {settings.simulated_steps:,} steps in the simulator of {run} first")
        simulation = simulation_of(Path(run), settings.task)
        learn_in_simulator(
            self.model, self.envs, simulation, steps=settings.simulated_steps, seed=settings.seed
        )

    def _callbacks(self) -> list[BaseCallback]:
        """Return the callbacks that watch learning, in order."""
        return [_Watcher(self)]

    def evaluate(self) -> None:
        """Evaluate on validation seeds and write a checkpoint; neither affects training."""
        record, now = self.record, self._count()
        seeds = self.seeds.validation(self.episodes)
        evaluation = self._validate(seeds)
        record.validation_steps += evaluation.steps
        point = curve_point(record, evaluation)
        record.curve.append(point)
        is_best = record.best is None or self._better(_rank(point), _rank(record.best))
        if is_best:
            record.best = point
        self._checkpoint(is_best=is_best)
        self.display.on_evaluation(point)
        self._since = time.monotonic()
        record.evaluation_seconds += self._since - now

    def pause_if_due(self) -> None:
        """Stop between two rollouts if the time limit has passed and something was learned.

        Raises:
            PausedRun: It has; a checkpoint holds all that is needed to continue.
        """
        steps = self.model.num_timesteps
        if self.pause_at is None or time.monotonic() < self.pause_at or steps == self._begun_at:
            return
        self._count()
        self._checkpoint(is_best=False)
        raise PausedRun

    def _count(self) -> float:
        """Add the steps and seconds since the last evaluation to the record; return the current time."""
        record, now = self.record, time.monotonic()
        record.train_seconds += now - self._since
        record.steps, self._since = self.model.num_timesteps, now
        return now

    def _better(self, rank: tuple[float, float], best: tuple[float, float]) -> bool:
        """Whether an evaluation replaces the best; ties go to the agent trained longer."""
        return rank >= best

    def _validate(self, seeds: Sequence[int]) -> Evaluation:
        """Evaluate the current agent on validation seeds."""
        return self.evaluator.evaluate(agent_of(self.model, self.envs), seeds)

    def _checkpoint(self, *, is_best: bool) -> None:
        self.checkpoints.write(self.model, self.envs, self.record, is_best=is_best)

    def _best(self) -> Callable[[Sequence[int]], Evaluation]:
        """Return a function that plays the best agent on seeds."""
        agent = agent_of(self.model, self.envs)
        if self.record.best != self.record.curve[-1]:
            agent = load_agent(self.checkpoints.best_model, self.settings)
        return partial(self.evaluator.evaluate, agent)

    def _final(self, best: Evaluation) -> Evaluation | None:
        """Evaluate the final agent on test seeds, unless it is the best; a subclass may return None to leave it out."""
        if self.record.best == self.record.curve[-1]:
            return best
        seeds = self.seeds.test(self.settings.test_episodes)
        return self.evaluator.evaluate(agent_of(self.model, self.envs), seeds)

    def close(self) -> None:
        """Close all environments."""
        self.envs.close()
        self.evaluator.close()


def _rank(point: dict[str, Any]) -> tuple[float, float]:
    """Return success rate and mean return, in this order; a mean that is no number and a failed policy rank last."""
    if point.get("outcome", "ok") != "ok":
        return -1.0, float("-inf")
    mean = point["mean_return"]
    return (point["success_rate"] or 0.0, float("-inf") if mean is None else mean)


class _Watcher(BaseCallback):
    """Evaluates the agent between rollouts, when its network reflects all steps taken."""

    def __init__(self, run: TrainingRun) -> None:
        super().__init__()
        self._run = run

    def _on_rollout_start(self) -> None:
        if self.num_timesteps >= self._run.next_evaluation:
            self._run.evaluate()
        self._run.pause_if_due()

    def _on_step(self) -> bool:
        for info in self.locals["infos"]:
            episode = info.get("episode")
            if episode is not None:
                self._run.record.episodes.append((self.num_timesteps, float(episode["r"]), int(episode["l"])))
        self._run.display.on_step(self.num_timesteps)
        return self._run.on_policy or self.num_timesteps < self._run.last_step

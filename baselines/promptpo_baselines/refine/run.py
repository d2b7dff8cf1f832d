"""One run of ``promptpo refine``: a program, a network trained on top of it, and the file that holds both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from promptpo.errors import UsageError
from promptpo.output.exporting import BEST
from promptpo.output.report import write_atomically
from promptpo.rollouts.evaluation import Evaluation
from promptpo_baselines.building import check_actions, new_model
from promptpo_baselines.environments import make_playable, training_envs
from promptpo_baselines.progress import Display
from promptpo_baselines.refine.critic_first import CriticFirst, steps_before_actor
from promptpo_baselines.refine.environments import Flat, NormalizedAround, ProgramEnvs, ProgramTally
from promptpo_baselines.refine.files import FileEvaluator, build_refined_source
from promptpo_baselines.refine.networks import NearProgramPolicy, begin_near_zero, network_of
from promptpo_baselines.refine.programs import Prior
from promptpo_baselines.refine.shown_first import SHOWN_STEPS, ShownFirst
from promptpo_baselines.refine.weights import text_bytes
from promptpo_baselines.settings import TrainingSettings
from promptpo_baselines.training_run import TrainingRun

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.vec_env import VecEnv

WIDTHS = (128, 64, 32)
"""Possible widths of the network's two hidden layers; the widest that fits into the file is used."""
LOG_STD = -2.0
"""Log standard deviation of the initial exploration noise, unless the hyperparameters set it."""


class RefineRun(TrainingRun):
    """The state of one process's work on a run of ``promptpo refine``."""

    envs: Any

    def __init__(self, settings: TrainingSettings, directory: Path, display: Display) -> None:
        self.given = settings.prior or {}
        self.alone = bool(self.given.get("alone"))  # the network acts alone
        self.files = FileEvaluator(settings.task, allow_weaker=self.given["allow_weaker"])
        self.prior = Prior(self.given["source"], *self.files.spaces)
        self.passed = (
            0 if self.alone else self.prior.actions.size
        )  # size of the program's part of an observation
        super().__init__(settings, directory, display)

    def _envs(self, saved: Path | None) -> VecEnv:
        settings, row, weaker = self.settings, self.row, self.given["allow_weaker"]
        check_actions(settings, self.prior.action_space)
        envs: VecEnv = training_envs(
            settings.task,
            row.n_envs or 1,
            settings.seed,
            self.record.steps,
            lambda task: Flat(make_playable(task, allow_weaker=weaker)),
        )
        if settings.simulator is not None:
            from promptpo_baselines.simulated import Switch

            envs = Switch(envs)
        self.beside = ProgramEnvs(
            envs,
            self.prior,
            scale=self.given["scale"],
            off_policy=not self.on_policy,
            alone=self.alone,
            allow_weaker=weaker,
        )
        self.beside.tally = ProgramTally(**(self.record.program or {}))
        if saved is not None:
            return NormalizedAround.load(str(saved / "vecnormalize.pkl"), self.beside)
        gamma = row.values.get("gamma", 0.99)
        options = {"gamma": gamma, **(row.normalize or {"norm_reward": False})}
        normalized = NormalizedAround(self.beside, **{**options, "norm_obs": True})
        normalized.kept = self.passed
        return normalized

    def _callbacks(self) -> list[BaseCallback]:
        first: list[BaseCallback] = []  # before the actor is evaluated
        if not self.on_policy:
            first = [ShownFirst(self.beside) if self.alone else CriticFirst()]
        return [*first, *super()._callbacks()]

    @property
    def title(self) -> str:
        """The activity, in words."""
        given = self.given
        return f"refine {given['candidate']} of {given['run']}: a network learns by {super().title}"

    def _model(self, saved: Path | None) -> BaseAlgorithm:
        model = super()._model(saved)
        if saved is not None:  # the saved space knows no program
            model.action_space = self.beside.action_space
            model.action_space.seed(self.settings.seed + self.record.steps)
        return model

    def _new_model(self) -> BaseAlgorithm:
        arguments = self.row.arguments()
        arguments["policy_kwargs"] = self._policy_arguments(arguments["policy_kwargs"])
        if self.alone:
            arguments["learning_starts"] = min(SHOWN_STEPS, self.settings.training_steps // 2)
        policy: Any = NearProgramPolicy if self.on_policy else "MlpPolicy"
        model = new_model(self.settings, policy, self.envs, arguments)
        if not self.on_policy and not self.alone:
            begin_near_zero(model.policy.actor, LOG_STD)
        return model

    def _policy_arguments(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return the row's arguments of the policy, with an actor that fits into a file."""
        arch = given.get("net_arch")
        critic_name = "vf" if self.on_policy else "qf"
        critic = arch.get(critic_name) if isinstance(arch, dict) else arch
        inputs = int(self.envs.observation_space.shape[0])
        room = self.files.room(self.prior)
        outputs = self.prior.actions.size
        fitting = [w for w in WIDTHS if text_bytes([inputs, w, w, outputs]) < room]
        if not fitting:
            raise UsageError("the program is so long that no network fits beside it into one file of 100 kB.")
        widths = [fitting[0]] * 2
        default = [64, 64] if self.on_policy else [256, 256]
        arguments = {**given, "net_arch": {"pi": widths, critic_name: critic or default}}
        if self.on_policy:
            arguments |= {"passed": outputs, "choices": self.prior.actions.choices}
            arguments.setdefault("log_std_init", LOG_STD)  # of continuous actions
        return arguments

    # Evaluation

    def source(self) -> str:
        """Return the program with the current network, as one module."""
        network = network_of(self.model, self.envs, self.passed)
        return build_refined_source(self.prior, network, scale=None if self.alone else self.given["scale"])

    def _better(self, rank: tuple[float, float], best: tuple[float, float]) -> bool:
        """Ties go to the earlier one, and so to the program alone, which is easier to read."""
        return rank > best

    def _validate(self, seeds: Sequence[int]) -> Evaluation:
        """Evaluate the program alone before training, so that the result is never worse; later the file."""
        self._last_source = self.source() if self.record.curve else self.prior.source
        return self.files.evaluate(self._last_source, seeds)

    def _checkpoint(self, *, is_best: bool) -> None:
        if is_best:
            self.record.best_source = self._last_source
        self.record.program = asdict(self.beside.tally)
        self.checkpoints.write(self.model, self.envs, self.record, is_best=False)
        if is_best:
            self.publish()

    def publish(self, content: dict[str, Any] | None = None) -> None:
        """Write ``best.py``, with its result once it is known."""
        text = self.files.export(self.record.best_source, self.prior, self.settings, self.directory, content)
        write_atomically(self.directory / BEST, text)

    def _best(self) -> Callable[[Sequence[int]], Evaluation]:
        return partial(self.files.evaluate, self.record.best_source)

    def _final(self, best: Evaluation) -> None:
        """Return None: the last network is tested only if it is the best."""

    def complete(self) -> dict[str, Any]:
        """Train to the end, test the best file, and write it with its result."""
        waits = 0 if self.on_policy or self.alone else steps_before_actor(self.model)
        if self.settings.training_steps <= waits:
            self.display.line(
                f"  {self.settings.algorithm} does not change the program in its first {waits:,} steps: "
                "raise --max-steps, or use --algorithm ppo"
            )
        elif self.alone and not self.record.curve:
            learner: Any = self.model
            self.display.line(
                f"  a standalone network, trained after {learner.learning_starts:,} steps of the program; --added makes it a residual network"
            )
        if self.record.best_source:
            self.publish()
        content = super().complete()
        content |= self._additions(content)
        self.publish(content)
        return content

    def _additions(self, content: dict[str, Any]) -> dict[str, Any]:
        given, record, tally = self.given, self.record, self.beside.tally
        best = record.best or {}
        network = network_of(self.model, self.envs, self.passed)
        return {
            "method": "refine",
            "reported": "the best of the program and the checkpoints on validation seeds",
            "steps": {**content["steps"], "program": given["steps"]},
            "program": {
                "run": given["run"],
                "steps": given["steps"],
                "validation": {key: record.curve[0][key] for key in ("outcome", "mean_return")},
                "asking_share": round(tally.asking_seconds / max(record.train_seconds, 1e-9), 4),
                "episodes": tally.episodes,
                "failures": tally.failures,
            },
            "residual": {
                "kept": bool(best.get("steps")),
                "alone": self.alone,
                "scale": given["scale"],
                "weights": network.numbers,
            },
        }

    def close(self) -> None:
        """Close all environments."""
        super().close()
        self.files.close()

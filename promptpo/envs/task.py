"""The task of a run: environment, arguments, wrappers, variants and reward."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Ge

from promptpo.errors import UsageError

Reveal = Literal["source", "named", "anonymous", "bare"]
"""How much of a task its description reveals."""

OBJECTS = "object/"
"""Namespace of ids for registered objects that are in no module."""

HELD_OUT_SEEDS = range(30_000_000, 40_000_000)
"""Episode seeds that play a family's held-out variants; all others play its training variants."""


@dataclass(frozen=True, slots=True)
class Wrapping:
    """A wrapper to put around the environment.

    Attributes:
        name: "module:Wrapper", "./file.py:Wrapper", or the name of one of ``gymnasium.wrappers``.
        kwargs: Its keyword arguments; JSON values.
    """

    name: str
    kwargs: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> Wrapping:
        """Parse ``module:Wrapper{"n": 4}``, in which the braces are optional.

        Raises:
            UsageError: There is no name, or the text after it is no JSON object.
        """
        name, brace, rest = text.partition("{")
        try:
            kwargs = json.loads(brace + rest) if brace else {}
        except (ValueError, RecursionError) as error:
            raise UsageError(
                f"the arguments of the wrapper {name.strip()} are not JSON: {error}; write them as "
                f"'{name.strip()}{{\"n\": 4}}'."
            ) from error
        if not name.strip():
            raise UsageError(f"{text!r} names no wrapper; write it as 'module:Wrapper{{\"n\": 4}}'.")
        return cls(name.strip(), kwargs)

    def __str__(self) -> str:
        return f"{self.name}{json.dumps(dict(self.kwargs), sort_keys=True)}" if self.kwargs else self.name


@dataclass(frozen=True, slots=True)
class Variant:
    """One member of a family of tasks.

    Attributes:
        env_kwargs: Keyword arguments added to those of the task; they take precedence.
        env_id: The environment if it is not the task's; empty for the task's own.
    """

    env_kwargs: Mapping[str, Any] = field(default_factory=dict)
    env_id: str = ""

    @property
    def name(self) -> str:
        """A short name for tables."""
        words = [f"{key}={json.dumps(value)}" for key, value in self.env_kwargs.items()]
        return ", ".join([self.env_id, *words] if self.env_id else words) or "as it is"


@dataclass(frozen=True, slots=True)
class RewardProgram:
    """A reward that replaces the environment's own; created by `promptpo.program.reward_program`.

    Attributes:
        source: A module with ``class Reward``, see `promptpo_sandbox.guest.rewards`.
        digest: Equal for programs that differ in comments, layout and local names.
        file: Name of its file; empty if a language model wrote it in this run.
        says_success: Whether it reports if an episode succeeded.
        goal: The user's goal that it was written for; empty if the user gave the program.
    """

    source: str
    digest: str
    file: str = ""
    says_success: bool = False
    goal: str = ""

    @property
    def name(self) -> str:
        """Its file or origin, and a short digest."""
        return f"{self.file or 'written for the goal'} ({self.digest[:8]})"

    @property
    def reads_environment(self) -> bool:
        """Whether its source uses the environment's own reward."""
        return len(re.findall(r"\benv_reward\b", self.source)) > 1  # once as an argument


def _with_file(name: str, change: Callable[[str], str | Path]) -> str:
    """Apply `change` to the file in a name; return a name without a file unchanged."""
    file, _, attribute = name.rpartition(":")
    return f"{change(file)}:{attribute}" if file.endswith(".py") else name


def with_absolute_path(name: str) -> str:
    """Return a name with the absolute path of its file."""
    return _with_file(name, lambda file: Path(file).expanduser().resolve())


def label_of(name: str) -> str:
    """Return a name for display, without the folders of its file."""
    return _with_file(name, lambda file: Path(file).name)


def relative_name(name: str) -> str:
    """Return a name with its file relative to the working directory; of a file outside it only the file's name."""

    def shorten(file: str) -> str | Path:
        path = Path(file)
        inside = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path.name
        return inside if path.is_absolute() else file

    return _with_file(name, shorten)


def resolve_near(name: str, file: Path) -> str:
    """Find the file in a name in the working directory, beside `file`, or in the folders above it."""
    folders = (Path.cwd(), *file.absolute().parents)
    return _with_file(name, lambda inner: next((p for at in folders if (p := at / inner).is_file()), inner))


@dataclass(frozen=True, slots=True)
class Task:
    """The task of a run: one environment, or a family of variants for one policy.

    Attributes:
        env_id: The environment: a Gymnasium id, possibly ``module:EnvId``, a class as ``module:Class`` or
            ``./file.py:Class``, or a function that builds one, as ``module:function()``.
        env_kwargs: Keyword arguments for it; JSON values.
        max_episode_steps: Horizon in steps; None for the environment's own.
        wrappers: Wrappers of the environment, innermost first.
        variants: The training variants; empty for the environment alone.
        held_out: Variants that only the test plays.
        show_variant: Whether observations become ``{"observation": ..., "variant": n}``, with variants numbered from 0.
        reward: The program that computes the reward; None for the environment's own.
        files: Digests or paths of the only files that may be imported from the task's untrusted folders; None if all
            are trusted.
    """

    env_id: str
    env_kwargs: Mapping[str, Any] = field(default_factory=dict)
    max_episode_steps: Annotated[int | None, Ge(1)] = None
    wrappers: tuple[Wrapping, ...] = ()
    variants: tuple[Variant, ...] = ()
    held_out: tuple[Variant, ...] = ()
    show_variant: bool = False
    reward: RewardProgram | None = None
    files: tuple[str, ...] | None = field(default=None, compare=False)

    @property
    def label(self) -> str:
        """The id, without the folders of its file."""
        return label_of(self.env_id)

    @property
    def name(self) -> str:
        """The id with keyword arguments, wrappers, number of variants and reward, for display."""
        parts = [self.label]
        if self.env_kwargs:
            parts.append(json.dumps(dict(self.env_kwargs), sort_keys=True))
        parts += [f"in {replace(wrapping, name=label_of(wrapping.name))}" for wrapping in self.wrappers]
        if self.is_family:
            n = len(self.family)
            parts.append(f"({n} variant{'' if n == 1 else 's'})")
        if self.reward is not None:
            parts.append(f"with the reward {self.reward.name}")
        return " ".join(parts)

    def rename_with(self, rename: Callable[[str], str]) -> Task:
        """Apply `rename` to the names of the environment, wrappers and variants; return the new task."""

        def variants(of: tuple[Variant, ...]) -> tuple[Variant, ...]:
            return tuple(replace(variant, env_id=rename(variant.env_id)) for variant in of)

        return replace(
            self,
            env_id=rename(self.env_id),
            wrappers=tuple(replace(wrapper, name=rename(wrapper.name)) for wrapper in self.wrappers),
            variants=variants(self.variants),
            held_out=variants(self.held_out),
        )

    @property
    def modules(self) -> tuple[str, ...]:
        """Modules that the task names for its environment, wrappers and variants."""
        ids = [single.env_id for single in self.singles()] if self.is_family else []
        names = [self.env_id, *(wrapping.name for wrapping in self.wrappers), *ids]
        return tuple(dict.fromkeys(name.rpartition(":")[0] for name in names if ":" in name))

    def restrict_files(self, files: Mapping[str, str]) -> Task:
        """Allow only these files to be imported, if the task names modules without a path; return the new task.

        Args:
            files: Digests by path; a file matches by either.
        """
        if all(module.endswith(".py") for module in self.modules):
            return self
        return replace(self, files=(*files, *files.values()))

    @property
    def is_family(self) -> bool:
        """Whether episodes play several variants."""
        return bool(self.variants or self.held_out)

    @property
    def family(self) -> tuple[Variant, ...]:
        """The training variants; the unchanged environment if none are named."""
        return self.variants or (Variant(),)

    @property
    def playable(self) -> tuple[Variant, ...]:
        """All variants: training variants, then held-out ones."""
        return (*self.family, *self.held_out)

    def index_of(self, seed: int) -> int:
        """Return the position in `playable` of the variant that a seed plays.

        Seeds cycle through the variants, so consecutive seeds play each equally often up to one episode. The variant
        depends on the seed alone, so that candidates share episodes.
        """
        if self.held_out and seed in HELD_OUT_SEEDS:
            return len(self.family) + seed % len(self.held_out)
        return seed % len(self.family)

    def single(self, variant: Variant) -> Task:
        """Return the task of one variant alone."""
        return replace(
            self,
            env_id=variant.env_id or self.env_id,
            env_kwargs={**self.env_kwargs, **variant.env_kwargs},
            variants=(),
            held_out=(),
            show_variant=False,
        )

    def singles(self) -> Iterator[Task]:
        """Return the tasks of all variants, in the order of `playable`."""
        return (self.single(variant) for variant in self.playable)

    def validate(self) -> Task:
        """Check that the parts are consistent, and return the task with absolute paths.

        Raises:
            UsageError: A variant is listed twice or is both trained and held out, or `show_variant` does not apply.
        """
        seen: list[Task] = []
        for variant, single in zip(self.playable, self.singles(), strict=True):
            if single in seen:
                both = variant in self.held_out and seen.index(single) < len(self.family)
                raise UsageError(
                    f"the variant {variant.name} is {'both trained and held out' if both else 'given twice'}; "
                    "list every variant only once."
                )
            seen.append(single)
        if self.show_variant and not self.variants:
            raise UsageError("--show-variant needs several variants; name them with --env-kwargs or --tasks.")
        if self.show_variant and self.held_out:
            raise UsageError(
                "a policy cannot have learned the number of a held-out variant: leave out "
                "--show-variant or the held-out variants."
            )
        return self.rename_with(with_absolute_path)

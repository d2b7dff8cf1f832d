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
"""How much of a task a description tells."""

OBJECTS = "object/"
"""Namespace of the ids under which objects are registered that no module has."""

HELD_OUT_SEEDS = range(30_000_000, 40_000_000)
"""Episode seeds that play a family's held-out variants; all others play the variants of training."""


@dataclass(frozen=True, slots=True)
class Wrapping:
    """A wrapper to put around the environment.

    Attributes:
        name: "module:Wrapper", "./file.py:Wrapper", or the name of one of ``gymnasium.wrappers``.
        kwargs: Its arguments after the environment, by name; JSON values.
    """

    name: str
    kwargs: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> Wrapping:
        """Read ``module:Wrapper{"n": 4}``; the braces may be left out.

        Raises:
            UsageError: What follows the name is no JSON object.
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
        env_kwargs: Keyword arguments beyond those of the task, and instead of them where both have one.
        env_id: Another environment than the task's; empty for the task's own.
    """

    env_kwargs: Mapping[str, Any] = field(default_factory=dict)
    env_id: str = ""

    @property
    def name(self) -> str:
        """In a few words, for tables."""
        words = [f"{key}={json.dumps(value)}" for key, value in self.env_kwargs.items()]
        return ", ".join([self.env_id, *words] if self.env_id else words) or "as it is"


@dataclass(frozen=True, slots=True)
class RewardProgram:
    """Reward that replaces the environment's own; made by `promptpo.program.reward_program`.

    Attributes:
        source: A module with ``class Reward``, see `promptpo_sandbox.guest.rewards`.
        digest: Equal for programs that differ in comments, layout and local names.
        file: Name of the file that it is from; empty where a language model wrote it in this run.
        says_success: Whether it says if an episode succeeded.
        goal: The sentence that it was written for; empty where a person gave it.
    """

    source: str
    digest: str
    file: str = ""
    says_success: bool = False
    goal: str = ""

    @property
    def name(self) -> str:
        """In a few words: where it is from, and which one it is."""
        return f"{self.file or 'written for the goal'} ({self.digest[:8]})"

    @property
    def reads_environment(self) -> bool:
        """Whether the environment's own reward has a part in it, as far as its text tells."""
        return len(re.findall(r"\benv_reward\b", self.source)) > 1  # once as an argument


def _with_file(name: str, change: Callable[[str], str | Path]) -> str:
    """A name whose file, where it is in one, is written in another way."""
    file, _, attribute = name.rpartition(":")
    return f"{change(file)}:{attribute}" if file.endswith(".py") else name


def with_absolute_path(name: str) -> str:
    """A name with the absolute path of its file."""
    return _with_file(name, lambda file: Path(file).expanduser().resolve())


def label_of(name: str) -> str:
    """A name for people: of a file without its folders."""
    return _with_file(name, lambda file: Path(file).name)


def relative_name(name: str) -> str:
    """A name as it is typed from the working directory; of a file outside of it without its folders."""

    def shorten(file: str) -> str | Path:
        path = Path(file)
        inside = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path.name
        return inside if path.is_absolute() else file

    return _with_file(name, shorten)


def resolve_near(name: str, file: Path) -> str:
    """A name whose file is looked for in the working directory, beside `file`, and in the folders above it."""
    folders = (Path.cwd(), *file.absolute().parents)
    return _with_file(name, lambda inner: next((p for at in folders if (p := at / inner).is_file()), inner))


@dataclass(frozen=True, slots=True)
class Task:
    """The task: one environment, or a family of variants that one policy is to solve.

    Attributes:
        env_id: The environment: an id as Gymnasium writes it, ``module:EnvId`` included, a class as ``module:Class`` or
            ``./file.py:Class``, or a function that builds one, as ``module:function()``.
        env_kwargs: Keyword arguments for it; JSON values.
        max_episode_steps: Horizon in steps; None means the environment's own.
        wrappers: Put around the environment, the first one innermost.
        variants: The family that the policy is trained for; empty for the environment alone.
        held_out: Variants that only the test plays.
        show_variant: Observations become ``{"observation": ..., "variant": n}``, n counting the variants from 0.
        reward: The program that rewards steps; None leaves it to the environment.
        files: Digests or paths of the only files that may be imported for it from where it lies, which is not otherwise
            trusted; None trusts it.
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
        """The id, of a file without its folders."""
        return label_of(self.env_id)

    @property
    def name(self) -> str:
        """The id with its keyword arguments, wrappers, number of variants and reward, as a person would write it."""
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
        """The same task by other names of its environment, wrappers and variants."""

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
        """Modules that are imported because the task names them: for the environment, its wrappers and variants."""
        ids = [single.env_id for single in self.singles()] if self.is_family else []
        names = [self.env_id, *(wrapping.name for wrapping in self.wrappers), *ids]
        return tuple(dict.fromkeys(name.rpartition(":")[0] for name in names if ":" in name))

    def restrict_files(self, files: Mapping[str, str]) -> Task:
        """The same task, where a module without a path, which may lie in any folder, must be one of these files.

        Args:
            files: Digests by path; a file is one of them by either.
        """
        if all(module.endswith(".py") for module in self.modules):
            return self
        return replace(self, files=(*files, *files.values()))

    @property
    def is_family(self) -> bool:
        """Whether episodes are of several variants."""
        return bool(self.variants or self.held_out)

    @property
    def family(self) -> tuple[Variant, ...]:
        """The variants that are trained; the environment as it is where none is named."""
        return self.variants or (Variant(),)

    @property
    def playable(self) -> tuple[Variant, ...]:
        """All variants: those of training, then those held out."""
        return (*self.family, *self.held_out)

    def index_of(self, seed: int) -> int:
        """Position in `playable` of the variant that the episode of a seed plays.

        Seeds take turns: any consecutive seeds play all variants, and each equally often up to one episode.
        Whoever plays the same seed plays the same variant, so that candidates share episodes.
        """
        if self.held_out and seed in HELD_OUT_SEEDS:
            return len(self.family) + seed % len(self.held_out)
        return seed % len(self.family)

    def single(self, variant: Variant) -> Task:
        """The task of one variant alone."""
        return replace(
            self,
            env_id=variant.env_id or self.env_id,
            env_kwargs={**self.env_kwargs, **variant.env_kwargs},
            variants=(),
            held_out=(),
            show_variant=False,
        )

    def singles(self) -> Iterator[Task]:
        """The tasks of all variants, in the order of `playable`."""
        return (self.single(variant) for variant in self.playable)

    def validate(self) -> Task:
        """Check that the parts fit each other; return the task with absolute paths, which mean the same everywhere.

        Raises:
            UsageError: A variant is named twice, is trained and held out, or has no number to be shown.
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

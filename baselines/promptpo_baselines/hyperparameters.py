"""Hyperparameters as data, in the format of RL Baselines3 Zoo: selected, read, checked, and turned into arguments."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from promptpo.envs.task import Task
from promptpo.errors import UsageError
from promptpo.files import read_text
from promptpo_baselines.literals import activation, read_literal

ROWS = Path(__file__).with_name("hyperparams")
ZOO = "RL Baselines3 Zoo (rl-zoo3 2.9.2)"
OURS = "rows of our own"
REFINING = "rows of our own for networks on top of programs"
LIBRARY_DEFAULTS = "defaults of the library"

DEFAULT = "default"
"""Name of a file's row for environments without one."""

ON_POLICY = ("ppo", "trpo")
"""Algorithms that learn from the policy's own steps."""

BUFFER_SIZE, ROLLOUT = 1_000_000, 2048
"""The library's defaults if a row does not set them: transitions in a buffer, steps of a rollout."""
BATCH = {"ppo": 64, "trpo": 128}
"""Its default numbers of observations in a minibatch."""
MIN_ROLLOUT_SHARE = 0.95
"""Fraction of the steps that rollouts of the chosen length should use."""
SMALLEST = 2
"""Minimum steps of a rollout: normalising advantages takes two."""

SCHEDULE = re.compile(r"lin_(?P<start>[0-9.]+(e[+-]?[0-9]+)?)")
SCHEDULED = ("learning_rate", "clip_range", "clip_range_vf")
IGNORED = ("n_timesteps", "policy")
"""``--max-steps`` sets the first; the second follows from the observation space."""


@dataclass(frozen=True, slots=True)
class Hyperparameters:
    """Hyperparameters of one row.

    Attributes:
        source: Where they come from, in words; with the row's name if it is not the environment's.
        values: Arguments of the algorithm as plain data: schedules and activations are still text.
        n_envs: Number of environments stepped together; None if the row does not set it.
        normalize: Arguments of `VecNormalize`; None means no normalisation.
    """

    source: str
    values: Mapping[str, Any] = field(default_factory=dict)
    n_envs: int | None = None
    normalize: Mapping[str, Any] | None = None

    def arguments(self) -> dict[str, Any]:
        """Return keyword arguments for the algorithm, with schedules and activations as objects."""
        found = {name: _parse_schedule(name, value) for name, value in self.values.items()}
        policy = dict(found.pop("policy_kwargs", {}))
        if "activation_fn" in policy:
            policy["activation_fn"] = activation(policy["activation_fn"])
        return {**found, "policy_kwargs": policy}

    def as_json(self) -> dict[str, Any]:
        """Return the row for result files."""
        return asdict(self)


def resolve(algorithm: str, task: Task, choice: str, *, refining: bool = False) -> Hyperparameters:
    """Return the hyperparameters for an algorithm on a task.

    Args:
        algorithm: One of `promptpo_baselines.algorithms.ALGORITHMS`.
        task: The task to be solved.
        choice: "default": the library's; "zoo": the tuned row if there is one, else our row for the kind of
            environment, else the library's defaults; "ours": our own row if there is one, else as "zoo"; anything
            else: a file in the Zoo's format, which must have a row for the environment or one named "default", as our
            files may. The source says which was taken.
        refining: Whether a network is trained on top of a program, for which "ours" has rows of its own.

    Raises:
        UsageError: The file cannot be read, has no row, or has one that cannot be used.
    """
    if choice == DEFAULT:
        return Hyperparameters(LIBRARY_DEFAULTS)
    zoo = f"{algorithm}.yml"
    if choice not in ("zoo", "ours"):
        found = _row(task, Path(choice), choice)
        if found is None:
            raise UsageError(f"{choice} has no row for {task.label}, and none named default.")
        return found
    own = {f"refine-{zoo}": REFINING, f"ours-{zoo}": OURS} if refining else {f"ours-{zoo}": OURS}
    files = {**own, zoo: ZOO} if choice == "ours" else {zoo: ZOO}
    rows = (_row(task, ROWS / file, origin) for file, origin in files.items() if (ROWS / file).exists())
    found = next((row for row in rows if row is not None), None)
    if found is None:
        why = f"{ZOO} has no row for {task.label}"
        if not (ROWS / zoo).exists():
            why = f"rows of {ZOO} for {algorithm} do not come with promptpo"
        found = _by_kind(algorithm, task, why)
    if choice == "ours" and not found.source.startswith((OURS, REFINING)):
        lacking = f"there is no row of our own for {algorithm} on {task.label}"
        found = replace(found, source=f"{found.source}; {lacking}")
    return found


def fit_to_budget(row: Hyperparameters, algorithm: str, steps: int, taken: int = 0) -> Hyperparameters:
    """Return the row for a run of so many steps.

    On-policy algorithms get rollouts of the row's length, or shorter ones if those would leave many steps unused:
    stable-baselines3 would exceed the limit by up to a rollout. Off-policy algorithms get a buffer that holds all
    steps and no more, since checkpoints store it.

    Args:
        row: Hyperparameters with the number of environments set.
        algorithm: The RL algorithm.
        steps: Maximum number of steps, those taken included.
        taken: Steps taken before this process.

    Raises:
        UsageError: There are too few steps to learn from.
    """
    n_envs = row.n_envs or 1
    if algorithm not in ON_POLICY:
        size = min(steps, int(row.values.get("buffer_size", BUFFER_SIZE)))
        return replace(row, values={**row.values, "buffer_size": size})
    left, full = (steps - taken) // n_envs, int(row.values.get("n_steps", ROLLOUT))
    if steps < max(SMALLEST, n_envs):
        raise UsageError(
            f"{steps} training steps are too few to learn from with --n-envs {n_envs}: at least {max(SMALLEST, n_envs)} "
            "are needed, which is four fifths of --max-steps."
        )
    batch = int(row.values.get("batch_size", BATCH[algorithm]))
    whole = batch // math.gcd(batch, n_envs)  # all minibatches then have the row's size
    lengths = {full, *range(whole, full, whole)}
    length = max(
        (n for n in lengths if n <= left),
        key=lambda n: (min(left // n * n, MIN_ROLLOUT_SHARE * left), n),
        default=left if left > 0 else full,
    )
    return replace(row, values={**row.values, "n_steps": length})


def whole_steps(row: Hyperparameters, algorithm: str, steps: int, taken: int = 0) -> int:
    """Return the steps after the last rollout of a fitted row; off-policy, after the last step of all environments."""
    unit = (row.n_envs or 1) * (int(row.values["n_steps"]) if algorithm in ON_POLICY else 1)
    return taken + max(0, steps - taken) // unit * unit


def _by_kind(algorithm: str, task: Task, why: str) -> Hyperparameters:
    """Return the row for environments without a tuned one: our own for this kind of observation, or the library's defaults.

    On-policy networks need inputs of one scale. If the space is unbounded, running statistics normalise observations
    and rewards. With bounds, and for off-policy algorithms, that gained nothing in a measurement: Epidemic-v0, two
    seeds, PPO -40 and -29, normalised -39 and -62; DQN -54 and -324, normalised -271 and -221.
    """
    from gymnasium import spaces

    from promptpo_baselines.environments import make_flat_env

    with contextlib.closing(make_flat_env(task)) as env:
        space = env.observation_space
    if algorithm not in ON_POLICY or not isinstance(space, spaces.Box) or space.is_bounded("both"):
        return Hyperparameters(f"{LIBRARY_DEFAULTS}; {why}")
    source = (
        f"our row for unbounded observations (normalised, rewards too; else the library's defaults); {why}"
    )
    return Hyperparameters(source, normalize={"gamma": 0.99})


def _row(task: Task, path: Path, origin: str) -> Hyperparameters | None:
    """Return the task's row in a file; None if there is none."""
    rows = read_rows(path)
    name = row_for(task, rows) or DEFAULT
    return _check(rows[name], f"{origin}, row {name}") if name in rows else None


def read_rows(path: Path) -> dict[str, dict[str, Any]]:
    """Read all rows of a file in the Zoo's format.

    Raises:
        UsageError: The file cannot be read, or is not a mapping from environments to rows.
    """
    import yaml  # type: ignore[import-untyped]

    try:
        rows = yaml.safe_load(read_text(path))
    except (yaml.YAMLError, RecursionError) as error:
        raise UsageError(f"{path} is not YAML: {str(error).splitlines()[0]}.") from error
    if not isinstance(rows, dict) or not all(isinstance(row, dict) for row in rows.values()):
        raise UsageError(f"{path} must map environment ids to their hyperparameters.")
    return rows


def row_for(task: Task, rows: Mapping[str, Any]) -> str | None:
    """Return the name of the task's row: its ID, or the latest older version; None if there is none."""
    env_id = task.env_id.rpartition(":")[2]
    if env_id.startswith("LunarLander-") and task.env_kwargs.get("continuous"):
        env_id = env_id.replace("LunarLander-", "LunarLanderContinuous-")
    if env_id.startswith("BipedalWalker-") and task.env_kwargs.get("hardcore"):
        env_id = env_id.replace("BipedalWalker-", "BipedalWalkerHardcore-")
    stem, _, version = env_id.rpartition("-v")
    if env_id in rows or not version.isdigit():
        return env_id if env_id in rows else None
    parts = {name: name.rpartition("-v") for name in rows}
    older = {int(v): name for name, (s, _, v) in parts.items() if s == stem and v.isdigit()}
    return older.get(max((v for v in older if v < int(version)), default=-1))


def _check(row: Mapping[str, Any], source: str) -> Hyperparameters:
    values = {key: _read(key, value) for key, value in row.items() if key not in IGNORED}
    n_envs, normalize = values.pop("n_envs", None), values.pop("normalize", None)
    if n_envs is not None and not (isinstance(n_envs, int) and n_envs >= 1):
        raise UsageError(f"{source}: n_envs must be a whole number from 1 on, not {n_envs!r}.")
    if normalize is not None and not isinstance(normalize, bool | dict):
        raise UsageError(f"{source}: normalize must be true, false or a mapping, not {normalize!r}.")
    options = normalize if isinstance(normalize, dict) else {} if normalize else None
    if options is not None:
        options = {"gamma": values.get("gamma", 0.99), **options}
    return Hyperparameters(source, values, n_envs, options)


def _read(key: str, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if key in {"policy_kwargs", "normalize"}:
        return read_literal(value)
    try:
        return float(value)  # PyYAML reads 1e-3, without a dot, as text
    except ValueError:
        return value


def _parse_schedule(name: str, value: Any) -> Any:
    if not isinstance(value, str) or name not in SCHEDULED:
        return value
    match = SCHEDULE.fullmatch(value)
    if match is None:
        raise UsageError(f"{name} must be a number or a schedule such as lin_0.001, not {value!r}.")
    from stable_baselines3.common.utils import LinearSchedule

    return LinearSchedule(float(match["start"]), 0.0, 1.0)

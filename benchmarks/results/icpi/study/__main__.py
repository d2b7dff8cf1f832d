"""``python benchmarks/results/icpi/study [--engine …] [--seeds n]``: regret curves of ICPI and its comparisons.

Runs are kept in ``--out`` one by one, and runs that are there are not made again, so that a table can be
interrupted and extended. Each engine has tables of its own: ``curves.md`` is the oracle's, those of others bear
their names. ``--acceptance`` checks what must hold with the oracle engine. It runs with the code of revision d9f0641f.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from promptpo_baselines.icpi.domains import DOMAINS
from promptpo_baselines.icpi.engines.choose import check_engine, is_paid
from promptpo_baselines.icpi.estimate import estimate
from promptpo_baselines.icpi.setting import setting_for
import acceptance
from figure import draw
from runs import IcpiCell, Run, RunStore, cells, engine_suffix
from tables import SUMMARY, curves_csv, short, summary
from variants import ABLATIONS, CURVES, VARIANTS
from promptpo_benchmarks.measuring.tables import align_columns, markdown
from promptpo.errors import BudgetSpentError, PromptPOError, UsageError
from promptpo.core.config import Budget

if TYPE_CHECKING:
    from argparse import Namespace

FIRST_SEED = 1000
SEEDS = 8
ACCEPTANCE_SEEDS = 48
OUT = Path(__file__).parents[1]


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the runs that are missing, write the tables, print one; 0 when all is well."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    options = _parser().parse_args(words)
    command = f"python benchmarks/results/icpi/study {shlex.join(words)}".strip()
    try:
        return _acceptance(options, command) if options.acceptance else _curves(options, command)
    except BudgetSpentError as spent:
        print(f"stopped: {spent}; the same command with a higher limit goes on.", file=sys.stderr)
        return 1
    except PromptPOError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python benchmarks/results/icpi/study", description=__doc__)
    parser.add_argument("--engine", default="oracle", help="as promptpo baseline icpi takes it")
    parser.add_argument("--base-url", help="address of a completion server")
    parser.add_argument("--seeds", type=int, help=f"runs; {SEEDS}, for --acceptance {ACCEPTANCE_SEEDS}")
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--domains", default=",".join(map(short, DOMAINS)), help="with commas between them")
    parser.add_argument(
        "--variants",
        default=",".join(CURVES),
        help=f"with commas between them, of {', '.join(VARIANTS)}; or: ablations",
    )
    parser.add_argument("--prompt-tokens", type=int, default=3800, help="budget of a prompt")
    parser.add_argument("--max-calls", type=int, help="limit of each single run")
    parser.add_argument("--max-usd", type=float, help="limit of each single run")
    parser.add_argument("--out", type=Path, default=OUT, help="folder of the results")
    parser.add_argument("--name", help="of the files; curves, ablations or acceptance by default")
    parser.add_argument("--acceptance", action="store_true", help="the acceptance table; exit code 1: NO")
    return parser


def _curves(options: Namespace, command: str) -> int:
    """Curves as CSV and PNG, a summary as markdown."""
    ablations = options.variants == "ablations"
    variants = ["icpi", *ABLATIONS] if ablations else options.variants.split(",")
    unknown = [name for name in variants if name not in VARIANTS]
    if unknown:
        raise UsageError(f"--variants knows {', '.join(VARIANTS)}, not {unknown[0]!r}.")
    runs = _make(options, variants, options.seeds or SEEDS)
    name = (options.name or ("ablations" if ablations else "curves")) + engine_suffix(options.engine)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / f"{name}.csv").write_text(curves_csv(runs), encoding="utf-8")
    lines = summary(runs)
    (options.out / f"{name}.md").write_text(
        f"{_origin(command, runs)}\n\n{markdown(SUMMARY, lines)}", encoding="utf-8"
    )
    seeds = len({run.seed for run in runs})
    caption = f"engine {options.engine}, {seeds} seeds, mean and standard error, {max(run.date for run in runs)[:10]}"
    draw(runs, options.out / f"{name}.png", caption=caption)
    print(align_columns(SUMMARY, lines))
    return 0


def _acceptance(options: Namespace, command: str) -> int:
    """The acceptance table, as markdown and on standard output."""
    if options.engine != "oracle":
        raise UsageError("--acceptance is about the oracle engine; leave --engine out.")
    runs = _make(options, acceptance.NEEDED, options.seeds or ACCEPTANCE_SEEDS)
    checks = [
        acceptance.check(env_id, [run for run in runs if run.env_id == env_id])
        for env_id in dict.fromkeys(run.env_id for run in runs)
    ]
    lines = [check.cells for check in checks]
    name = options.name or "acceptance"
    (options.out / f"{name}.md").write_text(
        f"{_origin(command, runs)}\n\n{markdown(acceptance.HEADER, lines)}", encoding="utf-8"
    )
    print(align_columns(acceptance.HEADER, lines))
    return 0 if all(check.holds for check in checks) else 1


def _make(options: Namespace, variants: Iterable[str], seeds: int) -> list[Run]:
    """All wanted runs, made where they are missing; one line of progress each."""
    if seeds < 1:
        raise UsageError("--seeds must be at least 1.")
    env_ids = [full_id(name) for name in options.domains.split(",")]
    first = options.first_seed
    wanted = cells(
        env_ids,
        variants,
        range(first, first + seeds),
        engine=options.engine,
        prompt_tokens=options.prompt_tokens,
    )
    budget = Budget(steps=None, calls=options.max_calls, usd=options.max_usd)
    store = RunStore(options.out, base_url=options.base_url, budget=budget)
    _say_estimate(options, [cell for cell in wanted if not any(map(cell.is_done_by, store.runs))])
    runs = []
    for run, is_new in store.make(wanted):
        runs.append(run)
        if is_new:
            print(
                f"{short(run.env_id)}, {run.variant}, seed {run.seed}: {run.last_quarter}, "
                f"{run.calls} calls, {run.cpu_seconds:.2f} s",
                file=sys.stderr,
            )
    return runs


def _say_estimate(options: Namespace, missing: Sequence[IcpiCell]) -> None:
    """Print the cost of paid engines before the first call."""
    calls = tokens = 0
    usd: float | None = 0.0
    for cell in missing:
        if cell.engine is None or not is_paid(cell.engine):
            continue
        setting, variant = setting_for(cell.env_id), VARIANTS[cell.variant]
        if not calls:
            check_engine(cell.engine, setting, options.base_url)
        guess = estimate(
            setting, variant.method, variant.profile,
            steps=cell.steps, test_episodes=0, episode_steps=None, model=cell.engine,
            free=cell.engine.startswith(("embedded", "llamacpp", "vllm")),
        )  # fmt: skip
        calls += guess.expected_calls or guess.most_calls
        tokens += guess.expected_tokens or guess.most_tokens
        price = guess.expected_usd if guess.expected_usd is not None else guess.most_usd
        usd = None if usd is None or price is None else usd + price
    if calls:
        cost = "at an unknown price" if usd is None else f"for about ${usd:,.2f}"
        print(
            f"{options.engine}: about {calls:,} calls, {tokens / 1e6:,.1f} million tokens, {cost}.",
            file=sys.stderr,
        )


def _origin(command: str, runs: Sequence[Run]) -> str:
    """Command, days and versions, for the head of a table."""
    days = sorted({run.date[:10] for run in runs})
    made = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    versions = ", ".join(f"{name} {number}" for name, number in runs[-1].versions.items())
    return f"`{command}`, {made}; {versions}"


def full_id(name: str) -> str:
    """``Chain`` as the id of the domain.

    Raises:
        UsageError: There is no such domain.
    """
    env_id = f"promptpo/{name.strip()}-v0"
    if env_id not in DOMAINS:
        raise UsageError(f"--domains knows {', '.join(map(short, DOMAINS))}, not {name!r}.")
    return env_id


if __name__ == "__main__":
    sys.exit(main())

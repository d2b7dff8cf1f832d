"""`python -m promptpo_benchmarks.world_models steps`; says with --help what it measures."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from promptpo_benchmarks.world_models import steps


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m promptpo_benchmarks.world_models", description=__doc__)
    kinds = parser.add_subparsers(dest="what", required=True)
    plain = argparse.RawDescriptionHelpFormatter
    steps.add_arguments(kinds.add_parser("steps", description=steps.__doc__, formatter_class=plain))
    steps.run(parser.parse_args(arguments))


if __name__ == "__main__":
    main()

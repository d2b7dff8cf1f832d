"""``python -m promptpo_baselines``: the same commands as ``promptpo baseline``."""

import sys

from promptpo_baselines.cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

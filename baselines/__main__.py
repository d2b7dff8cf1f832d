"""``python -m baselines``: the same commands as ``promptpo baseline``."""

import sys

from baselines.cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

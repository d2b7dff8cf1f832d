"""``python -m promptpo`` and the ``promptpo`` command."""

import sys


def main() -> None:
    """Run the command line and exit with its code."""
    try:
        from promptpo.cli.app import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # before there is a command that could say more
        print("promptpo: stopped.", file=sys.stderr)
        code = 130
    sys.exit(code)


if __name__ == "__main__":
    main()

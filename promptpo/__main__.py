"""``python -m promptpo`` and the ``promptpo`` command."""

import sys

from promptpo.last_words import OVER, note, watch


def main() -> None:
    """Run the command line and exit with its code."""
    watch()
    try:
        from promptpo.cli.app import run

        code = run(sys.argv[1:])
    except (Exception, KeyboardInterrupt) as stop:  # before there is a command that could say more
        if KeyboardInterrupt.__name__ not in repr(stop):  # compiled code makes an error of its own of Ctrl-C
            raise
        print("promptpo: stopped.", file=sys.stderr)
        code = 130
    finally:
        note(OVER)
    sys.exit(code)


if __name__ == "__main__":
    main()

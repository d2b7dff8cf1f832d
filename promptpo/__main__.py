"""``python -m promptpo`` and the ``promptpo`` command."""

import os
import signal
import sys

from promptpo.crash_report import OVER, leave, note, watch


def main() -> None:
    """Run the command line and exit with its code."""
    watch()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: as in workers, see `LocalWorker`
    try:
        from promptpo.core.control import obey_interrupts, terminate

        obey_interrupts()
        from promptpo.cli.app import run

        signal.signal(signal.SIGTERM, terminate)  # before, SIGTERM ends the process: no work has begun
        code = run(sys.argv[1:])
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 1
    except (Exception, KeyboardInterrupt) as stop:  # noqa: BLE001 - no command exists yet to report it
        code = 130
        if KeyboardInterrupt.__name__ in repr(stop):
            print("promptpo: stopped.", file=sys.stderr)  # compiled code may wrap it in its own error
        else:
            sys.excepthook(*sys.exc_info())
            code = 1
    note(OVER)
    leave(code)


if __name__ == "__main__":
    main()

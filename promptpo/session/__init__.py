"""One process's work on a run: open it, search, write the results."""

from promptpo.session.session import Session

__all__ = ["Session"]

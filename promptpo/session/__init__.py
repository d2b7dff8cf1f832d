"""One process's work on a run: open it, search, write the results."""

from promptpo.session.session import Session
from promptpo.session.task import default_name

__all__ = ["Session", "default_name"]

"""The result of a run: as numbers (``result.json``) and as one self-contained page (``report.html``)."""

from promptpo.files import write_atomically
from promptpo.output.report.result import RESULT, result, summarize_evaluation, versions, write_result

__all__ = ["RESULT", "result", "summarize_evaluation", "versions", "write_atomically", "write_result"]

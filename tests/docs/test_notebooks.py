"""The example notebooks run from top to bottom, and are stored without outputs."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.docs.snippets import ROOT
from tests.docs.test_snippets import FEW_IN_PYTHON

NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_stored_clean(path: Any) -> None:
    """No outputs, no counts: a change shows as the change it is."""
    for cell in json.loads(path.read_text())["cells"]:
        assert cell.get("outputs", []) == []
        assert cell.get("execution_count") is None


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a real kernel, whose event loop is running, without a key; the result shows itself as HTML.

    While the run goes on, one output is updated, and in the end holds the result.
    """
    client: Any = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    import nbformat

    updates = []

    class Watching(client.NotebookClient):  # type: ignore[misc]
        def process_message(self, msg: Any, cell: Any, cell_index: Any) -> Any:
            updates.append(msg["msg_type"])
            return super().process_message(msg, cell, cell_index)

    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    for key in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(key, raising=False)
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(FEW_IN_PYTHON))
    Watching(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", []) if "data" in output]
    html = [output["data"]["text/html"] for output in shown if "text/html" in output["data"]]
    assert any("held-out return" in text for text in html)
    (live,) = [output["data"] for output in shown if output.output_type == "display_data"]
    assert "Held-out return" in live["text/plain"]
    assert "Held-out return" in live["text/html"]
    assert updates.count("update_display_data") > 2

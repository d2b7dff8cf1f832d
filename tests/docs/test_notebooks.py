"""The example notebooks run from top to bottom and are stored without outputs."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.docs.snippets import ROOT
from tests.docs.test_snippets import FEW_IN_PYTHON

NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_stored_without_outputs(path: Any) -> None:
    """Diffs then show only real changes."""
    for cell in json.loads(path.read_text())["cells"]:
        assert cell.get("outputs", []) == []
        assert cell.get("execution_count") is None


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They run in a real kernel with a running event loop, without a key; one output is updated during the run, and the result is HTML."""
    client: Any = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    import nbformat

    updates = []

    class RecordingClient(client.NotebookClient):  # type: ignore[misc]
        def process_message(self, msg: Any, cell: Any, cell_index: Any) -> Any:
            updates.append(msg["msg_type"])
            return super().process_message(msg, cell, cell_index)

    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    for key in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(key, raising=False)
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(FEW_IN_PYTHON))
    RecordingClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    displayed = [output for cell in notebook.cells for output in cell.get("outputs", []) if "data" in output]
    html = [output["data"]["text/html"] for output in displayed if "text/html" in output["data"]]
    assert any("held-out return" in text for text in html)
    (live,) = [output["data"] for output in displayed if output.output_type == "display_data"]
    assert "Held-out return" in live["text/plain"]
    assert "Held-out return" in live["text/html"]
    assert updates.count("update_display_data") > 2

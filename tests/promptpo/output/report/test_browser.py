"""The report in a real browser without a window; skipped where Chromium is not installed."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from promptpo.cli.app import run
from promptpo.output.report.page import write_report

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium"),
]

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-logging=stderr",
    "--virtual-time-budget=3000",
]


def browser(url: Any, folder: Any, *flags: Any) -> Any:
    """Run Chromium once; what it wrote to standard output, and the page's console messages."""
    done = subprocess.run(
        [CHROMIUM, *FLAGS, f"--user-data-dir={folder / 'profile'}", *flags, url],
        capture_output=True,
        text=True,
        check=True,
        timeout=100,
    )
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


@pytest.fixture(scope="module")
def listed(page: Any) -> Any:
    """A page over the runs of the folder that the report is in."""
    assert run(["list", str(page.parent.parent), "--html"]) == 0
    return page.parent.parent / "runs.html"


@pytest.fixture(scope="module")
def page(told_run: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The report with its episode, of a copy: other tests look at the one that the run wrote."""
    run = tmp_path_factory.mktemp("browser") / "run"
    shutil.copytree(told_run.directory, run)
    return write_report(run)


def test_runs_are_sorted_and_filtered(listed: Any, tmp_path: Path) -> None:
    """Our script makes a button of each column's name, and says how many rows are shown."""
    dom, console = browser(listed.as_uri(), tmp_path, "--dump-dom")
    assert console == []
    assert '<button type="button">held-out return</button>' in dom
    assert '<p id="filtering">' in dom
    text = listed.read_text()
    cells = [("100", "a"), ("9", "b"), ("", "c"), ("25", "d")]
    body = "".join(f"<tr><th>{name}</th><td>{value}</td></tr>" for value, name in cells)
    rows = re.sub(r"<tbody>.*</tbody>", f"<tbody>{body}</tbody>", text, flags=re.DOTALL)
    pressed = rows.replace(
        "</body>", "<script>document.querySelectorAll('button')[1].click();</script></body>"
    )
    (tmp_path / "pressed.html").write_text(
        re.sub(r"script-src '[^']*'", "script-src 'unsafe-inline'", pressed)
    )
    dom, _ = browser((tmp_path / "pressed.html").as_uri(), tmp_path, "--dump-dom")
    assert re.findall(r"<tr><th>(.)</th>", dom) == ["a", "d", "b", "c"]


@pytest.mark.parametrize("width", [1200, 520])
def test_no_column_of_a_list_lies_beyond_the_edge(listed: Any, tmp_path: Path, width: int) -> None:
    """Names of usual length are wrapped, and drawings stand below returns."""
    text = listed.read_text().replace("anthropic:demo-1", "openai:Qwen/Qwen2.5-Coder-7B-Instruct (qwen2.5)")
    measure = "const a = document.querySelector('.scroll'); document.title = `${a.scrollWidth - a.clientWidth} beyond`;"
    wide = text.replace("</body>", f"<script>{measure}</script></body>")
    (tmp_path / "wide.html").write_text(re.sub(r"script-src '[^']*'", "script-src 'unsafe-inline'", wide))
    dom, _ = browser((tmp_path / "wide.html").as_uri(), tmp_path, f"--window-size={width},900", "--dump-dom")
    assert "<title>0 beyond</title>" in dom


def test_scripts_of_models_do_not_run_and_ours_does(page: Any, tmp_path: Path) -> None:
    """The console is empty, the film's controls are there, a link opens the candidate it leads to."""
    dom, console = browser(f"{page.as_uri()}#r1c3", tmp_path, "--dump-dom")
    assert console == []
    assert '<details id="r1c3" class="candidate ok" open' in dom
    assert 'id="controls">' in dom.replace(' hidden=""', "")
    assert 'hidden="" id="controls"' not in dom
    assert "<script>window.hacked" not in dom


@pytest.mark.parametrize(
    ("which", "width", "dark"),  # narrower windows do not exist without a window
    [("page", 1280, False), ("page", 500, True), ("listed", 500, False), ("listed", 1280, True)],
)
def test_it_is_drawn_in_light_and_dark(
    request: pytest.FixtureRequest, which: str, tmp_path: Path, width: int, dark: bool
) -> None:
    """The page's own background reaches the screenshot in both schemes."""
    picture = tmp_path / "shot.png"
    scheme = ["--force-dark-mode", "--blink-settings=preferredColorScheme=0"] if dark else []
    _, console = browser(
        request.getfixturevalue(which).as_uri(),
        tmp_path,
        f"--window-size={width},900",
        f"--screenshot={picture}",
        *scheme,
    )
    assert console == []
    with Image.open(picture) as shot:
        corner = shot.convert("RGB").getpixel((2, 2))
    assert (max(corner) < 60) == dark, corner

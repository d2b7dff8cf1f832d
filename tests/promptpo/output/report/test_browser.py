"""The report in headless Chromium; skipped if Chromium is not installed."""

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
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--enable-logging=stderr", "--virtual-time-budget=3000",
]  # fmt: skip


def browser(url: Any, folder: Any, *flags: Any) -> Any:
    """Run Chromium once; return its standard output and the page's console messages."""
    done = subprocess.run(
        [CHROMIUM, *FLAGS, f"--user-data-dir={folder / 'profile'}", *flags, url],
        capture_output=True,
        text=True,
        check=True,
        timeout=100,
    )
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


@pytest.fixture(scope="module")
def list_page(page: Any) -> Any:
    """The list of runs that includes the report's run."""
    assert run(["list", str(page.parent.parent), "--html"]) == 0
    return page.parent.parent / "runs.html"


@pytest.fixture(scope="module")
def page(report_run: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The report with its film, in a copy because other tests use the original."""
    run = tmp_path_factory.mktemp("browser") / "run"
    shutil.copytree(report_run.directory, run)
    return write_report(run)


def test_list_of_runs_can_be_sorted_and_filtered(list_page: Any, tmp_path: Path) -> None:
    """The script turns column names into buttons and shows the number of rows."""
    dom, console = browser(list_page.as_uri(), tmp_path, "--dump-dom")
    assert console == []
    assert '<button type="button">held-out return</button>' in dom
    assert '<p id="filtering">' in dom
    text = list_page.read_text()
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
def test_list_of_runs_fits_the_window(list_page: Any, tmp_path: Path, width: int) -> None:
    """Long names wrap, and plots stand below returns."""
    text = list_page.read_text().replace(
        "anthropic:demo-1", "openai:Qwen/Qwen2.5-Coder-7B-Instruct (qwen2.5)"
    )
    measure = "const a = document.querySelector('.scroll'); document.title = `${a.scrollWidth - a.clientWidth} beyond`;"
    wide = text.replace("</body>", f"<script>{measure}</script></body>")
    (tmp_path / "wide.html").write_text(re.sub(r"script-src '[^']*'", "script-src 'unsafe-inline'", wide))
    dom, _ = browser((tmp_path / "wide.html").as_uri(), tmp_path, f"--window-size={width},900", "--dump-dom")
    assert "<title>0 beyond</title>" in dom


def test_only_the_reports_own_script_runs(page: Any, tmp_path: Path) -> None:
    """The film has controls, and a link opens its candidate."""
    dom, console = browser(f"{page.as_uri()}#r1c3", tmp_path, "--dump-dom")
    assert console == []
    assert '<details id="r1c3" class="candidate ok" open' in dom
    assert 'id="controls">' in dom.replace(' hidden=""', "")
    assert 'hidden="" id="controls"' not in dom
    assert "<script>window.hacked" not in dom


@pytest.mark.parametrize(
    ("which", "width", "dark"),  # headless Chromium has no narrower windows
    [("page", 1280, False), ("page", 500, True), ("list_page", 500, False), ("list_page", 1280, True)],
)
def test_page_follows_the_colour_scheme(
    request: pytest.FixtureRequest, which: str, tmp_path: Path, width: int, dark: bool
) -> None:
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

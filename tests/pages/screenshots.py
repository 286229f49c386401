"""Pictures of every page: both themes, four widths, both languages; the one in the README; and the guide's.

    python tests/pages/screenshots.py [--base DIR] [--out .screenshots] [--readme | --guide] [--widths wide]

Without a base directory it trains the demonstration first.
"""

from __future__ import annotations

import argparse
import json
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # when it is run as a script

from tests.pages.gallery import offer_gallery  # noqa: E402

GUIDE = {
    "runs": "",
    "overview": "overview?run=lr_0.1",
    "scalar": "scalar?q=train|eval",
    "system": "system",
    "histogram": "histogram",
    "image": "image",
    "tensor": "tensor",
    "graph": "graph?run=lr_0.1",
    "lineage": "lineage",
    "landscape": "landscape",
    "alert": "alert?rules=1",
}
WIDTHS = {
    "wide": (1440, 900),
    "guide": (1200, 700),
    "narrow": (390, 844),
    "laptop": (1366, 768),
    "large": (1920, 1080),
}
PAGES = {
    "runs": "",
    "overview": "overview",
    "scalar": "scalar",
    "scalar-compare": "scalar?m=compare",
    "scalar-ranks": "scalar?m=ranks",
    "scalar-groups": "scalar?m=groups",
    "scalar-layers": "scalar?m=layers",
    "histogram": "histogram",
    "histogram-ridge": "histogram?m=ridge",
    "histogram-percentile": "histogram?m=percentile",
    "image": "image",
    "tensor": "tensor",
    "graph": "graph",
    "graph-compare": "graph?m=compare",
    "lineage": "lineage",
    "landscape": "landscape",
    "landscape-surface": "landscape?m=surface",
    "dump": "dump",
    "alert": "alert?rules=1",
    "alert-runs": "alert?by=run",
    "why": "why",
    "align": "align",
    "job": "job",
    "text": "text",
    "audio": "audio",
    "pr-curve": "pr_curve",
    "checkpoint": "checkpoint",
    "reports": "reports",
    "gallery": "gallery",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", type=Path)
    parser.add_argument("--out", type=Path, default=ROOT / ".screenshots")
    parser.add_argument("--readme", action="store_true", help="only the picture of the README")
    parser.add_argument(
        "--widths", nargs="+", choices=WIDTHS, default=[name for name in WIDTHS if name != "guide"]
    )
    parser.add_argument("--guide", action="store_true", help="only the pictures of docs/pages.md")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        base = options.base or train(Path(folder) / "demo")
        address, server = serve(base, Path(folder) / "workspace")
        try:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(
                    executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"]
                )
                if options.readme or options.guide:
                    readme(browser, address) if options.readme else guide(browser, address)
                else:
                    all_pages(browser, address, options.out, options.widths)
        finally:
            server.terminate()
            server.wait(10)


def train(base: Path) -> Path:
    subprocess.run([sys.executable, str(ROOT / "examples" / "demo.py"), "--out", str(base)], check=True)
    return base


def serve(base: Path, workspace: Path) -> tuple[str, subprocess.Popen[bytes]]:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "mindinsight.server.commands.main", "start", "--foreground"]
    command += ["--summary-base-dir", str(base), "--workspace", str(workspace), "--port", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}/"
    until_healthy(address)
    return address, server


def until_healthy(address: str) -> None:
    """Wait until a server answers."""
    for _ in range(300):
        try:
            urllib.request.urlopen(address + "health", timeout=1).close()
            return
        except OSError:
            time.sleep(0.2)
    raise TimeoutError("the server did not answer")


def chromium() -> str:
    import shutil

    names = ("chromium", "chromium-headless-shell", "chromium-browser", "google-chrome")
    path = next((path for name in names if (path := shutil.which(name))), None)
    if path is None:
        raise FileNotFoundError("Chromium is needed: apt-get install chromium")
    return path


def all_pages(browser: Browser, address: str, out: Path, widths: list[str]) -> None:
    out.mkdir(parents=True, exist_ok=True)
    pages = {**PAGES, "report": f"reports?report={write_report(address)}"}
    for lang in ("en", "zh"):
        for theme in ("light", "dark"):
            for width in widths:
                for name, path in pages.items():
                    target = out / f"{name}-{width}-{theme}-{lang}.png"
                    shoot(browser, address + path, target, width, theme, lang)
                    print(target)


def write_report(address: str) -> str:
    """Id of a new report with a text and a live card."""

    def send(path: str, body: dict[str, Any]) -> dict[str, Any]:
        content = json.dumps(body).encode()
        request = urllib.request.Request(address + path, content, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            report: dict[str, Any] = json.load(answer)
        return report

    report: str = send("v2/reports", {"title": "Why the slower rate wins"})["id"]
    send(f"v2/reports/{report}/blocks", {"text": "# What is seen\n\nThe **loss** falls, in *both* runs."})
    card = {"view": "scalar", "card": "train/loss"}
    send(f"v2/reports/{report}/blocks", {"pin": card, "text": "From step 200 on they part."})
    return report


def readme(browser: Browser, address: str) -> None:
    target = ROOT / "docs" / "images" / "scalars.png"
    target.parent.mkdir(parents=True, exist_ok=True)
    shoot(browser, address + "scalar?q=train|eval", target, "wide", "light", "en")
    print(target)


def guide(browser: Browser, address: str) -> None:
    """Take the pictures of docs/pages.md, in 64 colours: a reader sees no difference, and git keeps each."""
    from PIL import Image

    folder = ROOT / "docs" / "images" / "pages"
    folder.mkdir(parents=True, exist_ok=True)
    for name, path in GUIDE.items():
        target = folder / f"{name}.png"
        shoot(browser, address + path, target, "guide", "light", "en")
        Image.open(target).convert("RGB").quantize(64).save(target, optimize=True)
        print(target)


def shoot(browser: Browser, address: str, target: Path, width: str, theme: Any, lang: str) -> None:
    wide, tall = WIDTHS[width]
    locale = "zh-CN" if lang == "zh" else "en-GB"
    context = browser.new_context(viewport={"width": wide, "height": tall}, color_scheme=theme, locale=locale)
    offer_gallery(context)
    page = context.new_page()
    page.goto(address)
    gallery = address.endswith("/gallery")  # some of its components are loading for ever
    page.wait_for_selector("[data-component]" if gallery else "html:not(:has(.booting))", timeout=20_000)
    page.wait_for_timeout(2500)
    page.screenshot(path=str(target), full_page=gallery)
    context.close()


if __name__ == "__main__":
    main()

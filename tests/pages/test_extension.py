"""The page of an extension in a browser, and where extensions are listed."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.examples.test_plugin import base, installed  # noqa: F401 - fixtures
from tests.pages.conftest import free_port
from tests.pages.screenshots import until_healthy

pytestmark = pytest.mark.slow


@pytest.fixture
def url(base: Path, installed: Path, tmp_path: Path) -> Iterator[str]:  # noqa: F811
    port = free_port()
    command = [sys.executable, "-m", "mindinsight.server.commands.main", "start", "--foreground"]
    command += ["--summary-base-dir", str(base), "--workspace", str(tmp_path), "--port", str(port)]
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)
    address = f"http://127.0.0.1:{port}/"
    until_healthy(address)
    yield address
    server.terminate()
    server.wait(10)
    shutil.rmtree(tmp_path, ignore_errors=True)


def test_the_page_of_an_extension(url: str, page: Page) -> None:  # the page ends before its server
    page.goto(url)
    page.get_by_role("link", name="Confusion").first.click()
    panel = page.get_by_role("region", name="run confusion/test")
    expect(panel).to_contain_text("Step 2: accuracy 0.75")
    expect(panel.get_by_role("row").nth(1)).to_have_text("0820.8")
    page.goto(f"{url}preferences")
    listed = page.get_by_role("region", name="Extensions")
    expect(listed.get_by_role("row")).to_have_count(5)
    expect(listed).to_contain_text("Kind of dataconfusionmindinsight-confusion 1.0used")

"""From the alert of a broken training to the operator and its line, and the report of the run."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.flight import unpack


def test_an_alert_leads_to_the_first_fault_of_its_step_and_to_the_operator(
    page: Any, serve: Any, tmp_path: Path
) -> None:
    unpack("logarithm", tmp_path / "base")
    unpack("nan_in_data", tmp_path / "base")
    page.goto(f"{serve(tmp_path / 'base')}alert")
    alert = page.get_by_role("listitem").filter(has_text="Step 25").filter(has_text="logarithm")
    alert.get_by_role("link", name="Training fault: the loss is nan").click()
    expect(page.get_by_text("Only rank 0, step 25 was searched.")).to_be_visible()
    expect(page.get_by_text("Default/log-op0 produced non-finite values")).to_be_visible()
    expect(page.get_by_text("log received -691.012 at [0, 1].")).to_be_visible()
    expect(page.get_by_text("fc2.weight has norm 8835.4 there, against 0.88343 at step 20")).to_be_visible()
    expect(page.get_by_text("return torch.log(scores)").first).to_be_visible()
    page.get_by_role("button", name="Default/log-op0").first.click()
    expect(page.get_by_role("complementary", name="Operator")).to_contain_text("Default/log-op0")
    page.get_by_role("button", name="Search the whole dump").click()
    expect(page.get_by_text("Only rank 0, step 25 was searched.")).to_have_count(0)


def test_an_alert_about_ranks_leads_to_the_operator_that_reduces_wrongly(
    page: Any, serve: Any, tmp_path: Path
) -> None:
    unpack("wrong_reduction", tmp_path / "base")
    page.goto(f"{serve(tmp_path / 'base')}dump?dump=./wrong_reduction/flight_dump&step=25&tab=check")
    expect(page.get_by_text("Default/div_-op0 gives rank 1 another result")).to_be_visible()
    expect(page.get_by_text("parameter.grad.div_(1 if wrong else world)").first).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_report_is_saved_and_opens_from_disk_without_asking_anybody(
    page: Any, serve: Any, tmp_path: Path, scheme: str
) -> None:
    unpack("logarithm", tmp_path / "base")
    page.goto(f"{serve(tmp_path / 'base')}overview?run=./logarithm")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save report").click()
    expect(page.get_by_text("The report has been saved.")).to_be_visible()
    file = tmp_path / download.value.suggested_filename
    assert file.name == "report-logarithm.html"
    download.value.save_as(file)
    opened = page.context.new_page()
    requests: list[str] = []
    opened.on("request", lambda request: requests.append(request.url))
    opened.emulate_media(color_scheme=scheme)
    opened.goto(file.as_uri())
    expect(opened.get_by_role("heading", name="Report: logarithm")).to_be_visible()
    expect(opened.get_by_role("img", name="Part of the graph around it")).to_be_visible()
    assert requests == [file.as_uri()]
    light = opened.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(244, 246, 248)"
    assert light == (scheme == "light")
    opened.emulate_media(media="print", color_scheme=scheme)
    assert opened.evaluate("getComputedStyle(document.body).color") == "rgb(26, 34, 45)"  # dark on white
    opened.emulate_media(media="screen", color_scheme=scheme)
    opened.set_viewport_size({"width": 360, "height": 800})
    assert opened.evaluate("document.documentElement.scrollWidth") <= 360
    opened.close()

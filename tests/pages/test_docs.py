"""The page of the interfaces for scripts: what it lists is what the server answers."""

import json
import urllib.request
from typing import Any
from urllib.parse import urljoin

import pytest
from playwright.sync_api import expect

DESCRIPTIONS = {"v2": ("v2/openapi.json", ""), "v1": ("v1/mindinsight/openapi.json", "/v1/mindinsight")}


def described(address: Any, interface: Any) -> list[Any]:
    at, base = DESCRIPTIONS[interface]
    with urllib.request.urlopen(address + at, timeout=30) as answer:
        paths = json.load(answer)["paths"]
    return [
        (method.upper(), base + path, route)
        for path, methods in paths.items()
        for method, route in methods.items()
    ]


def routes(page: Any) -> Any:
    return page.locator("details.route")


@pytest.mark.parametrize("interface", DESCRIPTIONS)
def test_every_route_of_an_interface_is_listed_with_its_parameters(
    page: Any, samples: Any, interface: Any
) -> None:
    known = described(samples, interface)
    page.goto(f"{samples}docs?api={interface}")
    expect(routes(page)).to_have_count(len(known))
    listed = [tuple(text.split()[:2]) for text in routes(page).locator("summary").all_inner_texts()]
    assert sorted(listed) == sorted((method, path) for method, path, _ in known)
    method, path, route = max(known, key=lambda entry: len(entry[2].get("parameters", ())))
    entry = routes(page).filter(has=page.get_by_text(path, exact=True)).filter(has_text=method)
    entry.locator("summary").click()
    names = [text.rstrip("*") for text in entry.locator("td:first-child code").all_inner_texts()]
    assert names == [parameter["name"] for parameter in route["parameters"]]


@pytest.mark.parametrize("interface", DESCRIPTIONS)
def test_a_route_without_required_parameters_can_be_opened(page: Any, samples: Any, interface: Any) -> None:
    page.goto(f"{samples}docs?api={interface}")
    expect(routes(page).first).to_be_visible()
    links = routes(page).locator("a", has_text="Open").evaluate_all("links => links.map(link => link.href)")
    assert links
    for link in links:
        with urllib.request.urlopen(link, timeout=30) as answer:
            assert answer.status == 200, link


def test_the_two_interfaces_change_places_and_the_filter_stays(page: Any, samples: Any) -> None:
    page.goto(f"{samples}docs?q=scalar")
    expect(page.get_by_role("button", name="v2")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_text("/v2/scalar/series", exact=True)).to_be_visible()
    page.get_by_role("button", name="v1: MindInsight").click()
    expect(page.get_by_text("/v1/mindinsight/datavisual/scalars", exact=True)).to_be_visible()
    expect(page.get_by_text("/v2/scalar/series", exact=True)).to_have_count(0)
    assert "api=v1" in page.url
    assert "q=scalar" in page.url
    link = page.get_by_role("link", name="OpenAPI description")
    with urllib.request.urlopen(urljoin(samples, link.get_attribute("href")), timeout=30) as answer:
        assert json.load(answer)["info"]["title"] == "MindInsight v1"
    page.get_by_role("searchbox", name="Filter routes").fill("landscape")
    expect(page.get_by_text("/v1/mindinsight/datavisual/landscape/intervals", exact=True)).to_be_visible()
    expect(page.get_by_text("/v1/mindinsight/datavisual/scalars", exact=True)).to_have_count(0)


def test_in_chinese(page: Any, samples: Any) -> None:
    page.goto(f"{samples}docs?api=v1")
    expect(page.get_by_text("/v1/mindinsight/datavisual/scalars", exact=True)).to_be_visible()
    page.get_by_role("button", name="中文").click()
    expect(page.get_by_role("heading", name="API")).to_be_visible()
    expect(page.get_by_role("button", name="v1：MindInsight")).to_have_attribute("aria-pressed", "true")

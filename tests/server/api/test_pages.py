import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient

from mindinsight.server.api.pages import WEB, Pages
from mindinsight.server.http.static_files import Assets
from mindinsight.server.plugins import plugins
from tests.narrowing import require
from tests.server.conftest import StartServer

VIEWS = ["", *Pages(Assets(WEB)).names[1:]]


def boot_of(text: str) -> Any:
    return json.loads(require(re.search(r'id="boot">(.*?)</script>', text)).group(1))


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_has_its_page_and_its_module(shared_samples: StartServer, view: str) -> None:
    client = shared_samples()
    answer = client.get(f"/{view}")
    assert answer.status_code == 200
    boot = boot_of(answer.text)
    assert boot["view"] == (view or "runs")
    assert client.get(f"/{boot['assets']}/js/views/{boot['view']}.js").status_code == 200
    title = require(re.search("<title>(.*?) · MindInsight</title>", answer.text)).group(1)
    assert title not in ("", f"nav.{view}")


def test_every_described_view_is_of_a_kind_that_has_routes() -> None:
    with_other_names = {"checkpoint": "dump", "why": "answers", "align": "answers", "job": "answers"}
    kinds = {plugin.name for plugin in plugins()}
    assert {with_other_names.get(view, view) for view in VIEWS[3:]} - {
        "explain",
        "reports",
        "preferences",
        "system",
    } == kinds - {
        "code",  # on the overview
        "other",
        "tuning",
    }


@pytest.mark.parametrize("path", ["/scalar/", "/nothing", "/metrics", "/v2/nothing"])
def test_what_is_no_page_is_answered_by_the_interface(shared_samples: StartServer, path: str) -> None:
    answer = shared_samples().get(path, follow_redirects=False)
    assert answer.status_code == {"/scalar/": 307, "/metrics": 200}.get(path, 404)


def test_texts_of_the_frame_are_in_its_language(shared_samples: StartServer) -> None:
    text = shared_samples().get("/", headers={"Accept-Language": "zh"}).text
    assert '<html lang="zh">' in text
    assert "{{" not in text


def test_every_address_on_the_page_is_relative_and_there(shared_samples: StartServer) -> None:
    client = shared_samples()
    text = client.get("/").text
    addresses = re.findall(r'(?:src|href)="([^"#]+)"', text)
    assert len(addresses) > 7
    for address in addresses:
        assert not address.startswith(("/", "http")), address
        assert client.get(f"/{address}").status_code == 200, address


@pytest.mark.parametrize(
    ("headers", "lang"),
    [
        ({}, "en"),
        ({"Accept-Language": "zh-CN,zh;q=0.9,en;q=0.8"}, "zh"),
        ({"Accept-Language": "fr-FR,fr;q=0.9,zh;q=0.8"}, "zh"),
        ({"Accept-Language": "fr"}, "en"),
        ({"Accept-Language": "zh", "Cookie": "mindinsight_lang=en"}, "en"),
        ({"Cookie": "mindinsight_lang=<script>"}, "en"),
    ],
)
def test_the_language_is_the_chosen_one_or_the_browsers(
    shared_samples: StartServer, headers: dict[str, str], lang: str
) -> None:
    boot = boot_of(shared_samples().get("/").text)
    views = {view["name"]: view for view in boot["views"]}
    assert [
        name for name, view in views.items() if view["navigation"] and not view["icon"].startswith("M")
    ] == []
    tiles = {"audio", "graph", "histogram", "image", "pr_curve", "scalar", "tensor", "text"}
    assert {name for name, view in views.items() if view["tile"]} == tiles
    unlinked = {name for name, view in views.items() if not view["navigation"]}
    assert unlinked == {"alert", "align", "checkpoint", "explain", "job", "preferences", "reports", "why"}
    assert {name for name, view in views.items() if view["rare"]} == {"audio", "layout", "pr_curve"}


def test_an_address_where_nothing_is_is_a_page_in_words(shared_samples: Callable[..., TestClient]) -> None:
    client = shared_samples("lenet")
    accept = {"Accept": "text/html,*/*;q=0.8", "Accept-Language": "zh"}
    answer = client.get("/<b>nothing", headers=accept)
    assert answer.status_code == 404
    assert "页面不存在" in answer.text
    assert "&lt;b&gt;nothing" in answer.text
    assert "<b>nothing" not in answer.text
    assert client.get("/nothing").headers["content-type"] == "application/json"
    assert client.get("/v2/nothing", headers=accept).headers["content-type"] == "application/json"


def test_a_wrong_token_is_told_from_none(shared_samples: Callable[..., TestClient]) -> None:
    client = shared_samples("lenet", token="secret")
    client.headers.pop("Authorization")
    without, wrong = (client.get(path, headers={"Accept": "text/html"}) for path in ("/", "/?token=other"))
    assert without.status_code == wrong.status_code == 401
    assert "It was printed when the server started" in without.text
    assert "This is not the token of this server" in wrong.text
    assert 'name="token"' in wrong.text


@pytest.mark.parametrize(
    ("view", "frame"), [("runs", "alone"), ("docs", "alone"), ("graph", "alone"), ("scalar", "beside")]
)
def test_the_frame_leaves_room_for_the_panel_where_there_is_one(view: str, frame: str) -> None:
    assert f'<div id="body" class="{frame}">' in Pages(Assets(WEB)).render(view, "en")

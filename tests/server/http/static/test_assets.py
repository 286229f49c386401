import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.api.pages import WEB
from mindinsight.server.http.static.assets import Assets, scripts_digest


@pytest.fixture(scope="module")
def assets() -> Any:
    return Assets(WEB)


@pytest.mark.parametrize(
    "name", ["../pages.py", "templates/page.html", "/etc/passwd", "js", "js/../js/app.js", ""]
)
def test_only_what_was_found_is_served(assets: Any, name: Any) -> None:
    assert assets.body(name) is None


def test_plotly_comes_from_its_own_wheel(assets: Any) -> None:
    body = assets.body("plotly.min.js")
    assert b"plotly.js v" in body.plain[:200]
    assert gzip.decompress(body.packed) == body.plain
    assert len(body.packed) < len(body.plain) / 2


def test_the_texts_of_all_views_are_one_file(assets: Any) -> None:
    english = json.loads(assets.body("locales/en.json").plain)
    assert english["nav.runs"] == "Runs"
    assert english["overview.dataset"] == "Data pipeline"


def test_all_style_sheets_are_one_file_the_general_ones_first(assets: Any) -> None:
    text = assets.body("css/all.css").plain.decode()
    names = ["css/base.css", "css/frame.css", "css/components.css", "css/scalar.css"]
    places = [text.index(assets.plain(name).decode()) for name in names]
    assert places == sorted(places)
    assert len(text) >= sum(len(assets.plain(name).decode()) for name in assets.names("css/", ".css"))


def test_the_digest_follows_the_content(tmp_path: Path) -> None:
    for folder in ("static/js", "locales/en"):
        (tmp_path / folder).mkdir(parents=True)
    script = tmp_path / "static/js/app.js"
    script.write_text("1")
    before = Assets(tmp_path)
    assert Assets(tmp_path).digest == before.digest
    script.write_text("2")
    after = Assets(tmp_path)
    assert after.digest != before.digest
    assert after.plotly_digest == before.plotly_digest


def test_a_bundle_is_used_until_a_script_is_edited(tmp_path: Path) -> None:
    script, bundle = tmp_path / "static/js/core/dom.js", tmp_path / "static/bundle"
    for folder in (script.parent, bundle, tmp_path / "locales"):
        folder.mkdir(parents=True)
    script.write_text("1;")
    assert Assets(tmp_path).scripts == "js"
    digest = scripts_digest([("core/dom.js", script)])
    (bundle / "sources.json").write_text(json.dumps({"digest": digest}))
    assert Assets(tmp_path).scripts == "bundle"
    assert Assets(tmp_path, bundled=False).scripts == "js"
    script.write_text("2;")
    assert Assets(tmp_path).scripts == "js"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"digest": 3}'])
def test_a_bundle_that_is_not_whole_is_left_alone(tmp_path: Path, text: str) -> None:
    for folder in ("static/bundle", "static/js", "locales"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "static/bundle/sources.json").write_text(text)
    assert Assets(tmp_path).scripts == "js"


def test_addresses_with_the_digest_may_be_kept_for_good(shared_samples: Any, assets: Any) -> None:
    client = shared_samples()
    answer = client.get(f"/static/{assets.digest}/js/app.js")
    assert answer.headers["content-type"].startswith("text/javascript")
    assert "immutable" in answer.headers["cache-control"]
    assert answer.headers["content-encoding"] == "gzip"
    assert client.get("/static/old/js/app.js").headers["cache-control"] == "no-cache"
    assert client.get(f"/static/{assets.digest}/js/none.js").status_code == 404


def test_a_client_without_gzip_gets_the_plain_file(shared_samples: Any, assets: Any) -> None:
    answer = shared_samples().get(
        f"/static/{assets.digest}/css/base.css", headers={"Accept-Encoding": "identity"}
    )
    assert "content-encoding" not in answer.headers
    assert answer.content == (WEB / "static/css/base.css").read_bytes()

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.api.pages import WEB, Pages
from mindinsight.server.http.static_files import (
    Assets,
    digest_of,
    imported_modules,
    preloaded_scripts,
    ranged_response,
    view_entries,
)


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
    digest = digest_of([("core/dom.js", script)])
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


@pytest.fixture
def web(tmp_path: Path) -> Path:
    """A web package with two described views, a third without description, and one icon."""
    views = tmp_path / "static" / "js" / "views"
    (tmp_path / "locales").mkdir()
    for name, description in {
        "later": {"order": 20, "needs": ["dump"], "navigation": False, "rare": True},
        "first": {
            "order": 10,
            "needs": ["scalar", "lineage"],
            "group": "charts",
            "scripts": ["vendor/plot.js"],
        },
    }.items():
        (views / name).mkdir(parents=True)
        (views / name / "view.json").write_text(json.dumps(description), encoding="utf-8")
    (views / "first" / "icon.svg").write_text('<svg><path fill="none" d="M1 2h3"/></svg>', encoding="utf-8")
    (views / "later" / "tile.js").write_text("", encoding="utf-8")
    (views / "undescribed").mkdir()
    (views / "undescribed" / "card.js").write_text("", encoding="utf-8")
    return tmp_path


def test_entries_come_in_the_order_of_the_navigation(web: Path) -> None:
    assert view_entries(Assets(web)) == [
        {
            "name": "first",
            "needs": ["scalar", "lineage"],
            "icon": "M1 2h3",
            "tile": False,
            "navigation": True,
            "rare": False,
            "group": "charts",
        },
        {
            "name": "later",
            "needs": ["dump"],
            "icon": "",
            "tile": True,
            "navigation": False,
            "rare": True,
            "group": "",
        },
    ]


def test_a_view_says_which_scripts_it_always_needs(web: Path) -> None:
    scripts = {
        name: preloaded_scripts(Assets(web), name) for name in ("first", "later", "undescribed", "none")
    }
    assert scripts == {"first": ["vendor/plot.js"], "later": [], "undescribed": [], "none": []}


APP = """// Where it begins.
import { a } from "./core/a.js";
import * as b from "./core/b.js";
import {
  c,
  d,
} from "./c.js";
export { e } from "./e.js";
/** @type {import("./types.js").App} */
const later = () => import("./later.js");
"""


def test_static_imports_are_followed_and_others_left_out(tmp_path: Path) -> None:
    static = tmp_path / "static"
    (tmp_path / "locales").mkdir()
    (static / "js" / "core").mkdir(parents=True)
    (static / "js" / "app.js").write_text(APP, encoding="utf-8")
    for name in ("c.js", "e.js", "later.js", "types.js"):
        (static / "js" / name).write_text("", encoding="utf-8")
    (static / "js" / "core" / "a.js").write_text('import "../c.js";\nimport "./b.js";\n', encoding="utf-8")
    (static / "js" / "core" / "b.js").write_text('import { a } from "./a.js";\n', encoding="utf-8")
    modules = imported_modules(Assets(tmp_path), ("js/app.js", "js/none.js"))
    assert modules == ["js/app.js", "js/c.js", "js/core/a.js", "js/core/b.js", "js/e.js"]


@pytest.mark.parametrize("bundled", [False, True])
@pytest.mark.parametrize("view", ["runs", "scalar", "graph"])
def test_a_page_preloads_every_module_that_its_scripts_import(view: str, bundled: bool) -> None:
    assets = Assets(WEB, bundled)
    text = Pages(assets).render(view, "en")
    preloaded = re.findall(f'modulepreload" href="static/{assets.digest}/([^"]+)"', text)
    for name in preloaded:
        source = re.sub(r"/\*.*?\*/", "", assets.plain(name).decode(), flags=re.S)
        for path in re.findall(r"""\bfrom ["'](\.[^"']+)["']""", source):
            imported = (Path("/") / name).parent.joinpath(path).resolve().relative_to("/").as_posix()
            assert imported in preloaded, f"{name} imports {path}"


BODY = bytes(range(10))


@pytest.mark.parametrize(
    ("range_header", "status", "body", "content_range"),
    [
        ("", 200, BODY, None),
        ("bytes=0-", 206, BODY, "bytes 0-9/10"),
        ("bytes=2-4", 206, BODY[2:5], "bytes 2-4/10"),
        ("bytes=8-99", 206, BODY[8:], "bytes 8-9/10"),
        ("bytes=-3", 206, BODY[7:], "bytes 7-9/10"),
        ("bytes=-30", 206, BODY, "bytes 0-9/10"),
        ("bytes=10-", 416, b"", "bytes */10"),
        ("bytes=-0", 416, b"", "bytes */10"),
        ("bytes=5-2", 200, BODY, None),
        ("bytes=-", 200, BODY, None),
        ("bytes=0-1,4-5", 200, BODY, None),
        ("items=0-1", 200, BODY, None),
        ("bytes=" + "9" * 50 + "-", 200, BODY, None),
    ],
)
def test_one_range_is_answered_and_all_else_with_the_whole(
    range_header: str, status: int, body: bytes, content_range: str | None
) -> None:
    response = ranged_response(BODY, range_header, "audio/wav", {"X-Other": "kept"})
    assert (response.status_code, response.body) == (status, body)
    assert response.headers.get("content-range") == content_range
    assert response.headers["accept-ranges"] == "bytes"
    assert response.headers["x-other"] == "kept"

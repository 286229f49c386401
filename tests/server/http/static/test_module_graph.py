import re
from pathlib import Path

import pytest

from mindinsight.server.api.pages import WEB, Pages
from mindinsight.server.http.static.assets import Assets
from mindinsight.server.http.static.module_graph import imported_modules

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

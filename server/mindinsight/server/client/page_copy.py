"""Copies of the pages that need no server: a browser visits them, and every answer is kept as a file.

The scripts of the copy are those of the server; `core/copy.js` reads the answers. A question is kept without
what only depends on the width of a window, see `question_key`.
"""

from __future__ import annotations

import html
import json
import os
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count, islice, permutations
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, quote, urlencode

from mindinsight.server import extensions
from mindinsight.server.api.pages import LANGUAGES, WEB, Pages
from mindinsight.server.http.health import installed_version
from mindinsight.server.http.responses import COLUMNS
from mindinsight.server.http.static_files import BUNDLE, PLOTLY, STYLES, Assets
from mindinsight.server.store.array_block import ALIGNMENT
from mindinsight.server.texts import language_texts

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

ANSWERS: Final = "answers"  # folder of the answers
INDEX: Final = "index.json"
_IGNORED: Final = ("px", "low", "high")  # as in core/copy.js
_ENDINGS: Final = {
    "application/json": "json",
    "text/csv": "csv",
    "text/html": "html",
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "audio/wav": "wav",
}
_ROOTS: Final = ("home", "root", "tmp", "Users")  # in which people work
_IN_PATHS: Final = r"\w.+@%~=-"  # characters of names in a path
_QUIET: Final = 0.4  # seconds without a request after which a page is complete
_PATIENCE: Final = 30.0  # seconds for one screen of a page; what is missing then is missing in the copy
_LOADING: Final = """() => new Promise((resolve) => requestIdleCallback(() => requestAnimationFrame(() =>
    resolve(document.querySelector("#view[aria-busy=true], #view .booting, #view progress") !== null)),
    { timeout: 10000 }))"""  # whether it is loading, once the script is idle
_SCREENS: Final = 200  # to which a page is scrolled, which bounds the time for a page that grows
_PICTURE: Final = "v2/graph/picture"  # question about the drawing of a graph
_ROOT: Final = 0  # scope that holds all others
_VIEWS: Final = ("simplified", "recorded")  # of a graph, both in the copy
_SCOPES: Final = 200  # of a graph that can be opened, which bounds the size: some 20 kB each
_BOXES: Final = 2000  # of a graph whose details are there, which bounds the time: some 5 ms each
_PAIRED: Final = 5  # runs of which every pair is compared in the copy: twenty visits
_WINDOW: Final = {"width": 1440, "height": 900}
_POLICY: Final = (  # the server's, for hosts that send none
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "media-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'"
)
_CURVES: Final = ("x=relative", "x=wall", "s=0", "s=0.3", "s=0.9", "s=0.99")  # and as the page opens
_DUMP_TABS: Final = ("tensors", "check", "graph", "trends")


def question_key(method: str, address: str, body: str = "") -> str:
    """Return the key of a request as JSON text: method, path, sorted parameters and body. Parameters that
    depend on the window (`px`, `low`, `high`) are left out. `core/copy.js` computes the same key."""
    path, _, query = address.partition("?")
    pairs = [pair for pair in parse_qsl(query, keep_blank_values=True) if pair[0] not in _IGNORED]
    texts = sorted(_json(pair) for pair in pairs)
    return _json([method, path, texts, body])


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class Paths:
    """Filter that reduces absolute paths of this machine to their last names, for a copy that others read."""

    def __init__(self, directories: Iterable[str]) -> None:
        """Hide `directories`, and every path that looks as if it is below one of their first folders."""
        named = [path for path in (*directories, str(Path.home())) if PurePath(path).name]
        known = sorted({*named, *map(os.path.realpath, named)}, key=len, reverse=True)
        roots = {*_ROOTS, *(PurePath(path).parts[1] for path in known)}
        begin, end = r"(?<![\w.:/~-])", f"(?![{_IN_PATHS}])"
        self._known = re.compile(f"{begin}(?:{'|'.join(map(re.escape, known))})(?:/|{end})")
        below = "|".join(map(re.escape, sorted(roots)))
        self._path = re.compile(f"{begin}/(?:{below})(?:/[{_IN_PATHS}]+)*/?{end}")

    def hidden_in(self, body: bytes, kind: str) -> bytes:
        """Return a response body of the content type `kind` with paths in JSON, columns and texts replaced as
        by `hidden`. Bodies of other types, such as pictures, are unchanged."""
        if kind == COLUMNS:
            end = 4 + int.from_bytes(body[:4], "little")
            head = _json(self._hidden_in_all(json.loads(body[4:end]))).encode()
            head += b" " * (-(len(head) + 4) % ALIGNMENT)
            return len(head).to_bytes(4, "little") + head + body[end:]
        if kind == "application/json":
            text = _json(self._hidden_in_all(json.loads(body)))
            return text.encode("utf-8", "backslashreplace")  # lone surrogates, as the server writes them
        return self.hidden(body.decode()).encode() if kind.startswith("text/") else body

    def _hidden_in_all(self, value: Any) -> Any:
        """Return a JSON value with the directories hidden in all of its texts."""
        if isinstance(value, dict):
            return {self.hidden(key): self._hidden_in_all(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._hidden_in_all(item) for item in value]
        return self.hidden(value) if isinstance(value, str) else value

    def hidden(self, text: str) -> str:
        """Return a text in which paths below the hidden directories are relative to them. Other paths below
        the same top folders, or below `/home`, `/root`, `/tmp` and `/Users`, are reduced to their last names.
        """
        if "/" not in text:
            return text
        known = self._known.sub(lambda match: "" if match[0].endswith("/") else PurePath(match[0]).name, text)
        return self._path.sub(lambda match: PurePath(match[0]).name, known)


@dataclass
class Recorder:
    """Recorder that stores the responses of a server as files in `folder`, by `question_key`."""

    server: str  # address, ending with a slash
    folder: Path
    paths: Paths = field(default_factory=lambda: Paths([]))
    answers: dict[str, str] = field(default_factory=dict)
    busy: int = 0  # requests in flight
    last: float = 0.0  # monotonic time of the last answer
    failure: OSError | None = None  # an answer could not be written
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def handle(self, route: Route) -> None:
        """Forward a page's request to the server, and store the response if its status is 200. If the
        response cannot be written, the error is stored as `failure`. Requests for `v2/events` are aborted."""
        from playwright.sync_api import Error

        request = route.request
        address = request.url.removeprefix(self.server)
        if address.startswith("v2/events"):
            route.abort()
            return
        self.busy += 1
        try:
            response = route.fetch()
            body = response.body()
            if response.status == 200:
                kind = response.headers.get("content-type", "").partition(";")[0]
                body = self.paths.hidden_in(body, kind)
                self._keep(question_key(request.method, address, request.post_data or ""), body, kind)
            route.fulfill(response=response, body=body)
        except Error:  # the page went on to another while it was asked
            with suppress(Error):
                route.abort()
        except OSError as error:
            self.failure = error
            route.abort()
        finally:
            self.busy -= 1
            self.last = time.monotonic()

    def ask(self, path: str, params: Mapping[str, str]) -> dict[str, Any]:
        """Request data that no page requested, store the response, and return it, or {} for an error
        response."""
        address = f"{path}?{urlencode(params)}"
        try:
            with urllib.request.urlopen(self.server + address, timeout=_PATIENCE) as response:
                body = self.paths.hidden_in(response.read(), "application/json")
        except urllib.error.HTTPError:
            return {}
        self._keep(question_key("GET", address), body, "application/json")
        answer: dict[str, Any] = json.loads(body)
        return answer

    def evidence(self) -> list[str]:
        """Return the addresses, relative to the server, of the pages that the recorded explanations link
        to. [] without an explanation. A page may be listed twice."""
        keys = (key for key in self.answers if json.loads(key)[1].startswith("v2/explanation/"))
        answers = [json.loads((self.folder / self.answers[key]).read_bytes()) for key in keys]
        links = [link for answer in answers for part in answer.get("parts", ()) for link in part["links"]]
        return [f"{link['page']}?{urlencode(link['query'], doseq=True, quote_via=quote)}" for link in links]

    def _keep(self, key: str, body: bytes, kind: str) -> None:
        """Write a response to a file. It replaces an earlier response to the same request, as when a job
        ends."""
        if key not in self.answers:
            self.answers[key] = f"{next(self._numbers)}.{_ENDINGS.get(kind, 'bin')}"
        (self.folder / self.answers[key]).write_bytes(body)


def visit(page: Page, recorder: Recorder, address: str) -> None:
    """Open the page at an address and scroll to its end, so that it requests all of its data. Raises OSError
    if responses cannot be written."""
    page.goto(recorder.server + address, wait_until="domcontentloaded")
    _settle(page, recorder)
    if recorder.failure is not None:
        raise recorder.failure
    for _ in range(_SCREENS):
        before = page.evaluate("window.scrollY")
        page.evaluate("window.scrollBy(0, 0.8 * window.innerHeight)")
        if not _settle(page, recorder) or page.evaluate("window.scrollY") == before:
            break


def _record_graph(recorder: Recorder, run: str) -> None:
    """Store the responses that the graph page of a run needs if a user opens a scope or selects a box.
    Raises OSError if responses cannot be written. The page was visited before."""
    questions = []
    for key in recorder.answers:
        _, path, texts, _ = json.loads(key)
        question = dict(json.loads(text) for text in texts)
        if path.startswith("v2/graph/") and question.get("run") == run:
            questions.append((path, question, recorder.folder / recorder.answers[key]))
    for path, question, file in questions:
        if path == _PICTURE and "open" not in question:
            picture = json.loads(file.read_bytes())
            view = picture["view"]
            if view == "dataset":
                question.pop("tag", None)  # as the page asks for a data pipeline
            _open_scopes(recorder, {**question, "view": view}, picture)
            if view in _VIEWS:
                other = {"view": _VIEWS[1 - _VIEWS.index(view)]}
                for beside, params, _ in questions:  # such as the counts of operators
                    if params.get("view") == view:
                        recorder.ask(beside, {**params, **other})
                _open_scopes(recorder, {**question, **other}, recorder.ask(_PICTURE, {**question, **other}))


def _record_absent_graphs(recorder: Recorder, runs: Iterable[Mapping[str, Any]]) -> None:
    """Store that runs have no graph, and the profiles of data pipelines that they did not record. Raises
    OSError if responses cannot be written."""
    for run in runs:
        if not run["kinds"].get("graph") and not run.get("pipeline"):
            for path in ("v2/graph/graphs", "v2/graph/pipeline"):
                recorder.ask(path, {"run": run["id"]})


def _open_scopes(recorder: Recorder, about: Mapping[str, str], picture: Mapping[str, Any]) -> None:
    """Store a drawing of a graph for each scope, with this scope and its ancestors open, and the details of
    the boxes."""
    parents: dict[int, int] = {}
    scopes = [_ROOT]

    def add(boxes: Sequence[Mapping[str, Any]]) -> None:
        new = [box for box in boxes if box["id"] not in parents]
        parents.update((box["id"], box["parent"]) for box in new)
        scopes.extend(box["id"] for box in new if box["count"])

    add(picture.get("boxes", ()))
    for scope in islice(scopes, _SCOPES):  # which grows meanwhile
        branch = [scope]
        while branch[-1] != _ROOT:
            branch.append(parents[branch[-1]])
        opened = ",".join(map(str, sorted(branch[:-1]))) or str(_ROOT)
        add(recorder.ask(_PICTURE, {**about, "open": opened}).get("boxes", ()))
        recorder.ask("v2/graph/inside", {**about, "node": "" if scope == _ROOT else str(scope)})
    if len(scopes) <= _SCOPES:
        recorder.ask(_PICTURE, {**about, "open": "all"})
    for node in islice(parents, _BOXES):
        recorder.ask("v2/graph/node", {**about, "node": str(node)})


def _settle(page: Page, recorder: Recorder) -> bool:
    """Wait until the page is idle, without pending requests and scripts, and return False if that takes too
    long."""
    deadline = time.monotonic() + _PATIENCE
    recorder.last = time.monotonic()
    while time.monotonic() < deadline:
        page.wait_for_timeout(50)
        if not recorder.busy and time.monotonic() - recorder.last > _QUIET:
            before = recorder.last
            if not page.evaluate(_LOADING) and not recorder.busy and recorder.last == before:
                return True
    return False


def addresses_of(listed: Mapping[str, Any], views: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the addresses of all pages of the listed runs, relative to the server, without pages of kinds
    that no run has. ``listed`` is the answer of `v2/runs`, ``views`` describes the pages."""
    runs = listed["runs"]
    filled = {kind for run in runs for kind in run["kinds"]}
    filled |= {kind for kind in ("lineage", "pipeline") if any(run.get(kind) for run in runs)}
    filled |= {"dump"} if any(run["dumps"] for run in runs) else set()
    pages = ["", *(view["name"] for view in views if not view["needs"] or filled.intersection(view["needs"]))]
    pages += [f"scalar?{setting}" for setting in _CURVES if "scalar" in filled]
    for run in runs:
        pages += [_about(name, run) for name in ("overview", "explain")]
        pages += [_about(name, run) for name in ("graph", "console") if run["kinds"].get(name)]
        pages += [_pipeline_address(run)] if run.get("pipeline") else []
        for dump in run["dumps"]:
            pages += [f"dump?{urlencode({'dump': dump, 'tab': tab}, quote_via=quote)}" for tab in _DUMP_TABS]
    curves = [run["id"] for run in runs if run["kinds"].get("scalar")]
    if len(curves) <= _PAIRED and "align" in pages:
        pages += [
            f"align?{urlencode({'run': run, 'baseline': baseline}, quote_via=quote)}"
            for run, baseline in permutations(curves, 2)
        ]
    jobs = [run["job"] for run in runs if run["rank"] is not None]
    pages += [
        f"{page}?{urlencode({name: job}, quote_via=quote)}"
        for job in dict.fromkeys(jobs)
        for page, name in (("job", "job"), ("scalar", "ranks"))
    ]
    return pages


def _about(page: str, run: Mapping[str, Any]) -> str:
    """Return the address of a page about one run."""
    return f"{page}?{urlencode({'run': run['id']}, quote_via=quote)}"


def _pipeline_address(run: Mapping[str, Any]) -> str:
    """Return the address of the graph page with a run's data pipeline."""
    return f"{_about('graph', run)}&view=dataset"


def write_frame(out: Path, recorder: Recorder, runs: int) -> None:
    """Write the frame of every page, the scripts, styles and texts, and the index of the stored responses.
    ``runs`` is the number of runs, which the index states."""
    assets = Assets(WEB, views=extensions.views())
    pages = Pages(assets)
    for view in pages.names:
        name = "index" if view == "runs" else view
        (out / f"{name}.html").write_text(_as_copy(pages.render(view, "en")), encoding="utf-8")
    for name in _asset_names(assets):
        body = assets.body(name)
        digest = assets.plotly_digest if name == PLOTLY else assets.digest
        file = out / "static" / digest / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(body.plain if body else b"")
    index = {"made": time.time(), "version": installed_version(), "runs": runs}
    content = {**index, "answers": recorder.answers}
    (recorder.folder / INDEX).write_text(_json(content), encoding="utf-8")


def _as_copy(page: str) -> str:
    """Return a page of the server as a page of a copy."""
    policy = f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    lines = [line for line in page.split("\n") if 'href="v2/runs"' not in line]
    texts = language_texts("en")
    whole = "\n".join(lines).replace("<html ", f'<html data-copy="{ANSWERS}" ', 1)
    marked = whole.replace(html.escape(texts["page.loading"]), html.escape(texts["page.copy"]), 1)
    return marked.replace('<meta charset="utf-8">', f'<meta charset="utf-8">\n  {policy}', 1)


def _asset_names(assets: Assets) -> list[str]:
    """Return the names of the files that pages load."""
    texts = [f"locales/{language}.json" for language in LANGUAGES]
    scripts = assets.names(f"{assets.scripts}/", ".js")
    always = ["icon.svg", "js/theme.js"] if assets.scripts == BUNDLE else ["icon.svg"]
    vendor = assets.names("vendor/", "")
    return [*dict.fromkeys((*always, STYLES, PLOTLY, *texts, *scripts, *vendor))]


def export_site(
    server: str,
    out: Path,
    open_browser: Callable[[], Browser],
    listed: Mapping[str, Any],
) -> Iterator[tuple[int, int, str]]:
    """Write the pages of a running server into the empty folder `out`, and yield number, count and address
    of each page before its visit. `listed` is the answer of `v2/runs`. Raises OSError if responses cannot
    be written. The count grows if recorded explanations link to further pages."""
    folder = out / ANSWERS
    folder.mkdir()
    recorder = Recorder(server, folder, Paths([base["path"] for base in listed["bases"]]))
    addresses = addresses_of(listed, Pages(Assets(WEB, views=extensions.views())).views)
    first = {run["job"]: run for run in reversed(listed["runs"])}  # of the ranks of a job
    graphs = {
        _pipeline_address(run) if run.get("pipeline") else _about("graph", run): run["id"]
        for run in first.values()
    }  # the last visited page of each run's graphs
    browser = open_browser()
    try:
        page = browser.new_page(viewport=_WINDOW, locale="en-US")  # type: ignore[arg-type]
        page.add_init_script("globalThis.recordedPages = true")
        page.route(f"{server}v2/**", recorder.handle)
        number = 0
        while number < len(addresses):
            yield number, len(addresses), addresses[number]
            visit(page, recorder, addresses[number])
            if addresses[number] in graphs:
                _record_graph(recorder, graphs[addresses[number]])
            number += 1
            if number == len(addresses):
                addresses += [link for link in recorder.evidence() if link not in addresses]
        _record_absent_graphs(recorder, listed["runs"])
    finally:
        browser.close()
    write_frame(out, recorder, len(listed["runs"]))

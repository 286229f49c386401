"""Static files of the pages: assets with their hashes, the catalogue of views, and byte ranges."""

import gzip
import hashlib
import importlib.util
import json
import mimetypes
import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from mindinsight.server.http.responses import PartsResponse
from mindinsight.server.texts import locale_texts

_TYPES = {".js": "text/javascript", ".css": "text/css", ".json": "application/json", ".svg": "image/svg+xml"}
_FOREVER = "public, max-age=31536000, immutable"
PLOTLY = "plotly.min.js"
STYLES = "css/all.css"
BUNDLE = "bundle"
_FIRST_STYLES = ("css/base.css", "css/frame.css", "css/components.css")


@dataclass(frozen=True)
class Body:
    """Content of an asset, plain and compressed."""

    plain: bytes
    packed: bytes  # gzip


class Assets:
    """Assets of the pages by name (`js/app.js`, `locales/en.json`, `plotly.min.js`). No other file is served.

    `locales/en.json` joins all files of `locales/en/`, because each view has its own texts. `css/all.css`
    joins all styles. `scripts` is the folder of the scripts that pages load: the bundle if it was built from
    the current scripts, else `js`.
    """

    def __init__(self, web: Path, bundled: bool = True, views: Iterable[tuple[str, Path]] = ()) -> None:
        """Index the files in the folder `web`, and the pages of other distributions, given by name and folder
        in `views`."""
        static = web / "static"
        self._files = {p.relative_to(static).as_posix(): p for p in static.rglob("*") if p.is_file()}
        languages = [folder for folder in (web / "locales").iterdir() if folder.is_dir()]
        self._texts = {f"locales/{folder.name}.json": locale_texts(folder) for folder in languages}
        self._bodies: dict[str, Body] = {}
        own = [name for name in self.names("css/", ".css") if name not in _FIRST_STYLES]
        self._styles = [self._files[name] for name in (*_FIRST_STYLES, *own) if name in self._files]
        self.scripts = BUNDLE if bundled and self._has_fresh_bundle() else "js"
        for name, folder in views:
            self._add_view(name, folder)
        self.digest = digest_of([*self._files.items(), *self._texts.items()])[:12]
        plotly = _plotly()
        self._files[PLOTLY] = plotly
        self.plotly_digest = digest_of([(f"{plotly.stat().st_mtime_ns}", {})])[:12]

    def _add_view(self, name: str, folder: Path) -> None:
        """Add the page of another distribution: `<name>.js`, what it imports below `./<name>/`, and texts.
        A page that lacks its script or a valid description, or has the name of ours, is left out."""
        files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
        taken = f"{_VIEWS}{name}.js" in self._files
        if taken or f"{name}.js" not in files or not _is_description(files.get("view.json")):
            return
        for file, path in files.items():
            if file == f"{name}.js":
                self._files |= dict.fromkeys((f"{_VIEWS}{file}", f"{BUNDLE}/views/{file}"), path)
            elif path.suffix in (".js", ".json", ".svg") and not file.startswith("locales/"):
                self._files[f"{_VIEWS}{name}/{file}"] = path
                self._files[f"{BUNDLE}/views/{name}/{file}"] = path
        for language, texts in self._texts.items():
            own = files.get(language)
            known = json.loads(own.read_bytes()) if own else {}
            prefixes = (f"{name}.", f"nav.{name}")
            texts |= {key: str(text) for key, text in known.items() if key.startswith(prefixes)}
        self._texts = {language: {f"nav.{name}": name, **texts} for language, texts in self._texts.items()}

    def _has_fresh_bundle(self) -> bool:
        try:
            noted = json.loads(self._files[f"{BUNDLE}/sources.json"].read_bytes())["digest"]
        except (KeyError, TypeError, ValueError):
            return False
        names = self.names("js/", ".js")
        return bool(noted == digest_of([(name[len("js/") :], self._files[name]) for name in names]))

    def names(self, folder: str, suffix: str) -> list[str]:
        """Return the names below a folder, sorted: `names("js/core/", ".js")`."""
        return sorted(name for name in self._files if name.startswith(folder) and name.endswith(suffix))

    def __contains__(self, name: str) -> bool:
        """Return True if a file of that name is served."""
        return name in self._files or name in self._texts

    def plain(self, name: str) -> bytes:
        """Return the bytes of a file on disk. Raises KeyError for a name that is not served."""
        return self._files[name].read_bytes()

    def text(self, lang: str) -> dict[str, str]:
        """Return all texts of a language by key. Raises KeyError for an unknown language."""
        return self._texts[f"locales/{lang}.json"]

    def body(self, name: str) -> Body | None:
        """Return a file's content, read and compressed once, or None for a name that is not served."""
        if name not in self._bodies:
            if name in self._texts:
                plain = json.dumps(self._texts[name], ensure_ascii=False).encode()
            elif name == STYLES:
                plain = b"\n".join(path.read_bytes() for path in self._styles)
            elif name in self._files:
                plain = self._files[name].read_bytes()
            else:
                return None
            self._bodies[name] = Body(plain, gzip.compress(plain, 6))
        return self._bodies[name]

    def answer(self, request: Request) -> Response:
        """Return the response to the route `static/{digest}/{name:path}`: a file, or 404 if it is not
        served."""
        name = request.path_params["name"]
        body = self.body(name)
        if body is None:
            return PlainTextResponse("File not found.", 404)
        current = request.path_params["digest"] in (self.digest, self.plotly_digest)
        headers = {"Cache-Control": _FOREVER if current else "no-cache", "Vary": "Accept-Encoding"}
        media_type = _TYPES.get(Path(name).suffix) or mimetypes.guess_type(name)[0]
        content = body.plain
        if "gzip" in request.headers.get("accept-encoding", ""):
            content, headers["Content-Encoding"] = body.packed, "gzip"
        return PartsResponse(content, headers=headers, media_type=media_type)


def _is_description(path: Path | None) -> bool:
    """Return True if a file describes a page."""
    try:
        description = json.loads(path.read_bytes()) if path is not None else None
    except (OSError, ValueError):
        return False
    if not isinstance(description, dict):
        return False
    return isinstance(description.get("order"), int) and isinstance(description.get("needs"), list)


def digest_of(files: Iterable[tuple[str, Path | dict[str, str]]]) -> str:
    """Return the SHA-256 of names and contents, in order of names. `web/bundle.js` stores the same digest
    of the scripts in the bundle."""
    whole = hashlib.sha256()
    for name, content in sorted(files, key=lambda pair: pair[0]):
        data = content.read_bytes() if isinstance(content, Path) else json.dumps(content).encode()
        whole.update(name.encode() + b"\0" + data)
    return whole.hexdigest()


def _plotly() -> Path:
    """Return the path of plotly's script. The package itself is not imported, which would take a second."""
    spec = importlib.util.find_spec("plotly")
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parent / "package_data" / PLOTLY


_ICON_PATH: Final = re.compile(r'\bd="([^"]*)"')
_ALONE: Final = re.compile(rb"^export const alone = true;", re.MULTILINE)
_VIEWS: Final = "js/views/"
_DESCRIPTION: Final = "/view.json"


def view_entries(assets: Assets) -> list[dict[str, Any]]:
    """Return one `ViewEntry` of `core/types.js` per described view, in the order of the navigation."""
    names = [name[len(_VIEWS) : -len(_DESCRIPTION)] for name in assets.names(_VIEWS, _DESCRIPTION)]
    described = [(json.loads(assets.plain(f"{_VIEWS}{name}{_DESCRIPTION}")), name) for name in names]
    described.sort(key=lambda pair: (pair[0]["order"], pair[1]))
    return [_entry(assets, name, description) for description, name in described]


def preloaded_scripts(assets: Assets, view: str) -> list[str]:
    """Return the scripts, not modules, that a view always needs (`scripts` in its description, []
    without)."""
    name = f"{_VIEWS}{view}{_DESCRIPTION}"
    scripts: list[str] = json.loads(assets.plain(name)).get("scripts", []) if name in assets else []
    return scripts


def stands_alone(assets: Assets, view: str) -> bool:
    """Return True if a view has no panel of runs, according to its script. Raises KeyError for an unknown
    view. The page leaves room for the panel before the script runs."""
    return bool(_ALONE.search(assets.plain(f"{_VIEWS}{view}.js")))


def _entry(assets: Assets, name: str, description: dict[str, Any]) -> dict[str, Any]:
    folder = f"{_VIEWS}{name}/"
    icon = f"{folder}icon.svg"
    path = _ICON_PATH.search(assets.plain(icon).decode()) if icon in assets else None
    return {
        "name": name,
        "needs": description["needs"],
        "icon": path[1] if path else "",
        "tile": f"{folder}tile.js" in assets,
        "navigation": description.get("navigation", True),
        "rare": description.get("rare", False),
        "group": description.get("group", ""),
    }


_STATIC_IMPORT: Final = re.compile(
    r"""^(?:import|export|\}) ?[^"'\n;]*?["'](\.{1,2}/[^"'\n]+)["'];""", re.MULTILINE
)


def imported_modules(assets: Assets, entries: Iterable[str]) -> list[str]:
    """Return the entries and all modules that they import, directly or not, sorted. Names that are not
    served are left out. Modules that are imported on demand, by `import()`, are not included."""
    known: set[str] = set()
    waiting = list(entries)
    while waiting:
        name = waiting.pop()
        if name in known or name not in assets:
            continue
        known.add(name)
        folder = posixpath.dirname(name)
        text = assets.plain(name).decode()
        waiting += [posixpath.normpath(f"{folder}/{path}") for path in _STATIC_IMPORT.findall(text)]
    return sorted(known)


_SINGLE: Final = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


def ranged_response(body: bytes, requested: str, media_type: str, headers: Mapping[str, str]) -> Response:
    """Return `body`, or the range of it that `requested`, the header `Range`, asks for. The status is 206
    for a range, and 416 for one that begins behind the end. Several ranges, and an invalid or empty
    header, are answered with the whole body."""
    headers = {**headers, "Accept-Ranges": "bytes"}
    span = _span(requested, len(body))
    if span is None:
        return Response(body, media_type=media_type, headers=headers)
    start, stop = span
    if start >= stop:
        return Response(status_code=416, headers={**headers, "Content-Range": f"bytes */{len(body)}"})
    headers["Content-Range"] = f"bytes {start}-{stop - 1}/{len(body)}"
    return Response(body[start:stop], 206, media_type=media_type, headers=headers)


def _span(requested: str, size: int) -> tuple[int, int] | None:
    """Return the first byte and the end of the range, or None without a valid range."""
    match = _SINGLE.fullmatch(requested.replace(" ", ""))
    if match is None or match[0] == "bytes=-":
        return None
    first, last = match[1], match[2]
    if not first:  # a suffix: the last `last` bytes
        return max(0, size - int(last)), size
    if last and int(last) < int(first):
        return None
    return int(first), min(size, int(last) + 1) if last else size

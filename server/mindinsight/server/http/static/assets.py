"""Static assets of the web package and of plotly, under URLs that contain a hash of their content.

``static/<digest>/...`` never changes, so a browser keeps it for good; relative imports between
modules stay below the same digest.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import json
import mimetypes
from dataclasses import dataclass
from pathlib import Path

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
    plain: bytes
    packed: bytes  # gzip


class Assets:
    """Files by name (``js/app.js``, ``locales/en.json``, ``plotly.min.js``); only these are ever served.

    ``locales/en.json`` is all files of ``locales/en/`` as one: each view brings its own texts. So is
    ``css/all.css``. ``scripts`` is the folder of the scripts that pages load: the bundle as long as it was
    made of the scripts as they are, else ``js``.
    """

    def __init__(self, web: Path, bundled: bool = True) -> None:
        static = web / "static"
        self._files = {p.relative_to(static).as_posix(): p for p in static.rglob("*") if p.is_file()}
        languages = [folder for folder in (web / "locales").iterdir() if folder.is_dir()]
        self._texts = {f"locales/{folder.name}.json": locale_texts(folder) for folder in languages}
        self._bodies: dict[str, Body] = {}
        own = [name for name in self.names("css/", ".css") if name not in _FIRST_STYLES]
        self._styles = [self._files[name] for name in (*_FIRST_STYLES, *own) if name in self._files]
        self.scripts = BUNDLE if bundled and self._has_fresh_bundle() else "js"
        self.digest = _digest([*self._files.items(), *self._texts.items()])
        plotly = _plotly()
        self._files[PLOTLY] = plotly
        self.plotly_digest = _digest([(f"{plotly.stat().st_mtime_ns}", {})])

    def _has_fresh_bundle(self) -> bool:
        try:
            noted = json.loads(self._files[f"{BUNDLE}/sources.json"].read_bytes())["digest"]
        except (KeyError, TypeError, ValueError):
            return False
        names = self.names("js/", ".js")
        return bool(noted == scripts_digest([(name[len("js/") :], self._files[name]) for name in names]))

    def names(self, folder: str, suffix: str) -> list[str]:
        """Names below a folder, sorted: ``names("js/core/", ".js")``."""
        return sorted(name for name in self._files if name.startswith(folder) and name.endswith(suffix))

    def __contains__(self, name: str) -> bool:
        """Whether a file of that name is served."""
        return name in self._files or name in self._texts

    def plain(self, name: str) -> bytes:
        """Bytes of a file as they are on disk; raises KeyError for a name that is not served."""
        return self._files[name].read_bytes()

    def text(self, lang: str) -> dict[str, str]:
        return self._texts[f"locales/{lang}.json"]

    def body(self, name: str) -> Body | None:
        """A file's bytes, read and compressed once. None for a name that is not served."""
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
        """The route ``static/{digest}/{name:path}``."""
        name = request.path_params["name"]
        body = self.body(name)
        if body is None:
            return PlainTextResponse("There is no such file.", 404)
        current = request.path_params["digest"] in (self.digest, self.plotly_digest)
        headers = {"Cache-Control": _FOREVER if current else "no-cache", "Vary": "Accept-Encoding"}
        media_type = _TYPES.get(Path(name).suffix) or mimetypes.guess_type(name)[0]
        if "gzip" not in request.headers.get("accept-encoding", ""):
            return PartsResponse(body.plain, headers=headers, media_type=media_type)
        return PartsResponse(
            body.packed, headers={**headers, "Content-Encoding": "gzip"}, media_type=media_type
        )


def scripts_digest(files: list[tuple[str, Path]]) -> str:
    """SHA-256 over names and contents, by name; ``web/bundle.js`` notes the same of what it bundles."""
    whole = hashlib.sha256()
    for name, path in sorted(files):
        whole.update(name.encode() + b"\0")
        whole.update(path.read_bytes())
    return whole.hexdigest()


def _digest(files: list[tuple[str, Path | dict[str, str]]]) -> str:
    whole = hashlib.sha256()
    for name, content in sorted(files, key=lambda pair: pair[0]):
        data = content.read_bytes() if isinstance(content, Path) else json.dumps(content).encode()
        whole.update(name.encode() + b"\0" + data)
    return whole.hexdigest()[:12]


def _plotly() -> Path:
    """Where the wheel of plotly keeps its script; the package itself (a second of imports) is not loaded."""
    spec = importlib.util.find_spec("plotly")
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parent / "package_data" / PLOTLY

"""Routes of the pages: one HTML frame for all, whose content the view's module draws in the browser.

They are served before FastAPI is imported, so this module and what it imports do without it.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from mindinsight.server.http.health import installed_version
from mindinsight.server.http.static_files import (
    PLOTLY,
    STYLES,
    Assets,
    imported_modules,
    preloaded_scripts,
    stands_alone,
    view_entries,
)
from mindinsight.server.texts import language_texts

LANGUAGES = ("en", "zh")
WEB = Path(str(files("mindinsight.web")))
_PLACEHOLDER: Final = re.compile(r"\{\{ ([\w.]+) \}\}")


def names_of(views: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """``runs`` (at ``/``), ``overview``, ``docs``, one per described view."""
    return ("runs", "overview", "docs", *(view["name"] for view in views))


class Pages:
    """Renders the frame of every page."""

    def __init__(self, assets: Assets) -> None:
        self._template = (WEB / "templates" / "page.html").read_text(encoding="utf-8")
        self._assets = assets
        root = f"static/{assets.digest}"
        self._root = root
        self._rendered: dict[tuple[str, str], str] = {}
        self._views = view_entries(assets)
        self.names = names_of(self._views)

    def routes(self) -> list[Route]:
        """Every page, and the assets that pages ask for."""
        return [
            *(Route("/" if view == "runs" else f"/{view}", self._route(view)) for view in self.names),
            Route("/runs", _to_runs),
            Route("/static/{digest}/{name:path}", self._assets.answer),
        ]

    def _route(self, view: str) -> Callable[[Request], Response]:
        def page(request: Request) -> Response:
            key = view, language(request)
            if key not in self._rendered:
                self._rendered[key] = self.render(*key)
            return HTMLResponse(self._rendered[key])

        return page

    def render(self, view: str, lang: str) -> str:
        """The frame as HTML, with the one block of data its scripts start from."""
        texts = self._assets.text(lang)
        boot: dict[str, Any] = {
            "view": view,
            "lang": lang,
            "views": self._views,
            "version": installed_version(),
            "assets": self._root,
            "plotly": f"static/{self._assets.plotly_digest}/{PLOTLY}",
        }
        values = {
            "lang": lang,
            "title": html.escape(texts.get(f"nav.{view}", view)),
            "root": self._root,
            "styles": STYLES,
            "scripts": self._assets.scripts,
            "frame": "alone" if stands_alone(self._assets, view) else "beside",
            "preloads": "\n  ".join(self._preloads(view, lang)),
            "boot": json.dumps(boot).replace("<", "\\u003c"),  # a "<" could end the data block early
        }
        return _PLACEHOLDER.sub(
            lambda match: values.get(match[1]) or html.escape(texts[match[1]]), self._template
        )

    def _preloads(self, view: str, lang: str) -> Iterator[str]:
        """Links to all that the view waits for, so that nothing waits for something else to be read."""
        root, scripts = self._root, self._assets.scripts
        for address in (f"{root}/locales/{lang}.json", "v2/runs"):
            yield f'<link rel="preload" as="fetch" href="{address}" crossorigin>'
        for name in imported_modules(self._assets, (f"{scripts}/app.js", f"{scripts}/views/{view}.js")):
            yield f'<link rel="modulepreload" href="{root}/{name}">'
        for name in preloaded_scripts(self._assets, view):
            yield f'<link rel="preload" as="script" href="{root}/{name}">'


def _to_runs(request: Request) -> Response:
    """Whoever writes the address by hand expects the list of runs under its name; relative, for a prefix."""
    return RedirectResponse(f"./?{request.url.query}" if request.url.query else "./")


def language(request: Request) -> str:
    """The language chosen on the page, else the first of the browser's that we have, else English."""
    chosen = request.cookies.get("mindinsight_lang", "")
    wanted = [chosen, *request.headers.get("accept-language", "").split(",")]
    shorts = (item.split(";")[0].strip()[:2].lower() for item in wanted)
    return next((short for short in shorts if short in LANGUAGES), LANGUAGES[0])


def token_page(request: Request) -> str:
    """The page for a browser that comes without the token, or with a wrong one."""
    texts = language_texts(language(request))
    wrong = "token" in request.query_params
    box = '<input name="token" autocomplete="off" autofocus size="32">'
    opener = f"<button>{html.escape(texts['page.token.open'])}</button>"
    return _message(
        request,
        title=texts["page.token"],
        text=texts["page.token.wrong" if wrong else "page.token.how"],
        action=f"<form><label>{html.escape(texts['page.token.label'])} {box}</label> {opener}</form>",
    )


def missing_page(request: Request) -> str:
    """The page for a browser at an address where nothing is."""
    texts = language_texts(language(request))
    home = html.escape(request.scope.get("root_path", "") + "/")
    return _message(
        request,
        title=texts["page.missing"],
        text=texts["page.missing.how"].replace("{path}", request.url.path),
        action=f'<p><a href="{home}">{html.escape(texts["page.missing.home"])}</a></p>',
    )


def _message(request: Request, *, title: str, text: str, action: str) -> str:
    """A page with a few words and no script; ``action`` is markup."""
    values = {
        "lang": language(request),
        "title": html.escape(title),
        "text": html.escape(text),
        "action": action,
    }
    template = (WEB / "templates" / "message.html").read_text(encoding="utf-8")
    return _PLACEHOLDER.sub(lambda match: values[match[1]], template)

"""Routes of the pages: one HTML frame for all, with content that the view's module draws in the browser.

Pages are served before FastAPI is imported. This module and its imports must not import FastAPI.
"""

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

from mindinsight.server.http import static_files
from mindinsight.server.http.health import installed_version
from mindinsight.server.http.static_files import Assets
from mindinsight.server.texts import language_texts

LANGUAGES = ("en", "zh")
WEB = Path(str(files("mindinsight.web")))
_PLACEHOLDER: Final = re.compile(r"\{\{ ([\w.]+) \}\}")


def names_of(views: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the names of all pages: `runs` (at `/`), `overview`, `docs`, and one per described view."""
    return ("runs", "overview", "docs", *(view["name"] for view in views))


class Pages:
    """Renderer of the frame of every page."""

    def __init__(self, assets: Assets) -> None:
        self._template = (WEB / "templates" / "page.html").read_text(encoding="utf-8")
        self._assets = assets
        root = f"static/{assets.digest}"
        self._root = root
        self._rendered: dict[tuple[str, str], str] = {}
        self.views = static_files.view_entries(assets)
        self.names = names_of(self.views)

    def routes(self) -> list[Route]:
        """Return the routes of every page, and of the assets."""
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
        """Return the frame of the page `view` as HTML, with the block of data from which its scripts start.
        Raises KeyError if a view or language is unknown."""
        texts = self._assets.text(lang)
        boot: dict[str, Any] = {
            "view": view,
            "lang": lang,
            "views": self.views,
            "version": installed_version(),
            "assets": self._root,
            "plotly": f"static/{self._assets.plotly_digest}/{static_files.PLOTLY}",
        }
        values = {
            "lang": lang,
            "title": html.escape(texts.get(f"nav.{view}", view)),
            "root": self._root,
            "styles": static_files.STYLES,
            "scripts": self._assets.scripts,
            "frame": "alone" if static_files.stands_alone(self._assets, view) else "beside",
            "preloads": "\n  ".join(self._preloads(view, lang)),
            "boot": json.dumps(boot).replace("<", "\\u003c"),  # a "<" could end the data block early
        }
        return _PLACEHOLDER.sub(
            lambda match: values.get(match[1]) or html.escape(texts[match[1]]), self._template
        )

    def _preloads(self, view: str, lang: str) -> Iterator[str]:
        """Yield links to everything that the view needs, so that the browser loads all of it at once."""
        root, scripts = self._root, self._assets.scripts
        for address in (f"{root}/locales/{lang}.json", "v2/runs"):
            yield f'<link rel="preload" as="fetch" href="{address}" crossorigin>'
        for name in static_files.imported_modules(
            self._assets, (f"{scripts}/app.js", f"{scripts}/views/{view}.js")
        ):
            yield f'<link rel="modulepreload" href="{root}/{name}">'
        for name in static_files.preloaded_scripts(self._assets, view):
            yield f'<link rel="preload" as="script" href="{root}/{name}">'


def _to_runs(request: Request) -> Response:
    """Redirect to the list of runs, for users who type its name. The target is relative because of
    prefixes."""
    return RedirectResponse(f"./?{request.url.query}" if request.url.query else "./")


def language(request: Request) -> str:
    """Return the language chosen on the page, else the browser's first available one, else English."""
    chosen = request.cookies.get("mindinsight_lang", "")
    wanted = [chosen, *request.headers.get("accept-language", "").split(",")]
    shorts = (item.split(";")[0].strip()[:2].lower() for item in wanted)
    return next((short for short in shorts if short in LANGUAGES), LANGUAGES[0])


def token_page(request: Request) -> str:
    """Return, as HTML, the page that asks for a token. It says so if the token in the request is wrong."""
    texts = language_texts(language(request))
    wrong = "token" in request.query_params
    box = '<input name="token" autocomplete="off" autofocus size="32">'
    opener = f"<button>{html.escape(texts['page.token.open'])}</button>"
    form = f"<form><label>{html.escape(texts['page.token.label'])} {box}</label> {opener}</form>"
    return _message(
        request, texts["page.token"], texts["page.token.wrong" if wrong else "page.token.how"], form
    )


def missing_page(request: Request) -> str:
    """Return the page for an unknown address as HTML."""
    texts = language_texts(language(request))
    home = html.escape(request.scope.get("root_path", "") + "/")
    link = f'<p><a href="{home}">{html.escape(texts["page.missing.home"])}</a></p>'
    text = texts["page.missing.how"].replace("{path}", request.url.path)
    return _message(request, texts["page.missing"], text, link)


def _message(request: Request, title: str, text: str, action: str) -> str:
    """Return a page with a short text and no script. `action` is markup."""
    values = {"lang": language(request), "title": html.escape(title), "text": html.escape(text)}
    values["action"] = action
    template = (WEB / "templates" / "message.html").read_text(encoding="utf-8")
    return _PLACEHOLDER.sub(lambda match: values[match[1]], template)

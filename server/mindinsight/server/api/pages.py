"""Routes of the pages: one HTML frame for all, whose content the view's module draws in the browser."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from fastapi import APIRouter, Request
from jinja2 import Environment, FileSystemLoader, select_autoescape
from starlette.responses import HTMLResponse, RedirectResponse, Response

from mindinsight.server.http.assets import PLOTLY, Assets
from mindinsight.server.plugins import Plugin

LANGUAGES = ("en", "zh")
WEB = Path(str(files("mindinsight.web")))
_ICON_PATH: Final = re.compile(r'\bd="([^"]*)"')
_FIRST_STYLES = ("css/base.css", "css/frame.css", "css/components.css")


def names_of(kinds: tuple[Plugin, ...]) -> tuple[str, ...]:
    """``runs`` (at ``/``), ``overview``, ``docs``, one per plugin with a page."""
    return ("runs", "overview", "docs", *(kind.name for kind in kinds if kind.page))


class Pages:
    """Renders the frame of every page."""

    def __init__(self, assets: Assets, kinds: tuple[Plugin, ...]) -> None:
        environment = Environment(loader=FileSystemLoader(WEB / "templates"), autoescape=select_autoescape())
        self._template = environment.get_template("page.html")
        self._assets = assets
        root = f"static/{assets.digest}"
        self._root = root
        folders = ("js/core/", "js/components/", "js/frame/")
        self._modules = [f"{root}/{name}" for folder in folders for name in assets.names(folder, ".js")]
        own = [name for name in assets.names("css/", ".css") if name not in _FIRST_STYLES]
        self._styles = [f"{root}/{name}" for name in (*_FIRST_STYLES, *own)]
        self._rendered: dict[tuple[str, str], str] = {}
        self._names = names_of(kinds)
        self._views = [self._view(kind) for kind in kinds if kind.page]

    def router(self) -> APIRouter:
        router = APIRouter(include_in_schema=False)
        for view in self._names:
            router.add_api_route("/" if view == "runs" else f"/{view}", self._route(view), methods=["GET"])
        router.add_api_route("/runs", _to_runs, methods=["GET"])
        router.add_api_route("/static/{digest}/{name:path}", self._static, methods=["GET"])
        return router

    def _view(self, kind: Plugin) -> dict[str, Any]:
        """What the pages know of a view before it is opened (``ViewEntry`` in ``core/types.js``)."""
        folder = f"js/views/{kind.name}/"
        icon = self._assets.body(f"{folder}icon.svg")
        path = _ICON_PATH.search(icon.plain.decode()) if icon else None
        return {
            "name": kind.name,
            "needs": kind.needs or (kind.name,),
            "icon": path[1] if path else "",
            "tile": self._assets.body(f"{folder}tile.js") is not None,
            "navigation": kind.navigation,
        }

    def _route(self, view: str) -> Callable[[Request], Response]:
        def page(request: Request) -> Response:
            key = view, language(request)
            if key not in self._rendered:
                self._rendered[key] = self.render(*key)
            return HTMLResponse(self._rendered[key])

        return page

    def _static(self, request: Request) -> Response:
        return self._assets.answer(request)

    def render(self, view: str, lang: str) -> str:
        """The frame as HTML, with the one block of data its scripts start from."""
        texts = self._assets.text(lang)
        boot: dict[str, Any] = {
            "view": view,
            "lang": lang,
            "views": self._views,
            "version": version("mindinsight"),
            "assets": self._root,
            "plotly": f"static/{self._assets.plotly_digest}/{PLOTLY}",
        }
        return self._template.render(
            lang=lang,
            title=texts.get(f"nav.{view}", view),
            texts=texts,
            root=self._root,
            modules=self._modules,
            styles=self._styles,
            # A "<" could end the data block early.
            boot=json.dumps(boot).replace("<", "\\u003c"),
        )


def _to_runs(request: Request) -> Response:
    """Whoever writes the address by hand expects the list of runs under its name; relative, for a prefix."""
    return RedirectResponse(f"./?{request.url.query}" if request.url.query else "./")


def language(request: Request) -> str:
    """The language chosen on the page, else the first of the browser's that we have, else English."""
    chosen = request.cookies.get("mindinsight_lang", "")
    wanted = [chosen, *request.headers.get("accept-language", "").split(",")]
    shorts = (item.split(";")[0].strip()[:2].lower() for item in wanted)
    return next((short for short in shorts if short in LANGUAGES), LANGUAGES[0])


def ask_for_token() -> str:
    """The page for a browser that comes without the token."""
    return (WEB / "templates" / "token.html").read_text(encoding="utf-8")

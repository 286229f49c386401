"""The gallery of the pages' components, offered to a browser as the page `gallery` of a running server.

Only a browser that this module has prepared knows the page: nothing of it is in the product.
"""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import BrowserContext, Page, Route

SCRIPT = Path(__file__).with_suffix(".js")


def offer_gallery(browser: Page | BrowserContext) -> None:
    """Answer `gallery` with the frame of the page `docs`, and the script of that view with `gallery.js`."""

    def frame(route: Route) -> None:
        answer = route.fetch(url=route.request.url.removesuffix("gallery") + "docs")
        body = answer.text().replace('"view": "docs"', '"view": "gallery"')
        route.fulfill(response=answer, body=body)

    browser.route("**/gallery", frame)
    browser.route(
        "**/views/gallery.js", lambda route: route.fulfill(path=SCRIPT, content_type="text/javascript")
    )

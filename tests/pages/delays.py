"""Answers of a server that a test keeps back."""

import re
from typing import Any
from urllib.parse import unquote

from tests.narrowing import require


class DelayedAnswer:
    """The next answer that matches is kept until it is released."""

    def __init__(self, page: Any, pattern: Any) -> None:
        self.page = page
        self._pattern = re.compile(pattern)
        self._kept: tuple[Any, Any] | None = None
        page.route(lambda url: bool(self._pattern.search(unquote(url))), self._keep)

    def _keep(self, route: Any) -> None:
        if self._kept:
            route.continue_()
        else:
            self._kept = (route, route.fetch())

    def until(self) -> None:
        """Until the answer is held back."""
        for _ in range(1200):
            if self._kept:
                return
            self.page.wait_for_timeout(25)
        raise AssertionError(f"{self._pattern.pattern} was not asked for")

    def release(self) -> None:
        """Let it go, and let the page deal with it."""
        route, answer = require(self._kept)
        route.fulfill(response=answer)
        self.page.evaluate("async () => { for (let i = 0; i < 5; i++) await fetch('health'); }")
        self.page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))")

"""The text that elements of a page show, read in one call."""

from typing import Any, cast


def shown_texts(page: Any, selector: str) -> list[str]:
    """Return the text of each element, with line breaks and tabs as they are shown.

    Playwright's `all_inner_texts` finds elements in one call and reads them in another. An element that the
    page has replaced in between is not rendered any more, and its text runs together.
    """
    script = "(selector) => [...document.querySelectorAll(selector)].map((element) => element.innerText)"
    return cast("list[str]", page.evaluate(script, selector))

"""Pages show the claims of a situation, in the words of the locale files, and none that it refutes."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.claims.situation import Situation, all_situations
from tests.narrowing import require
from tests.thoroughness import share

_UNFOLD = "(claim) => claim.closest('details') && (claim.closest('details').open = true)"
SITUATIONS = [truth for truth in all_situations() if truth.may_have_page]


@pytest.mark.parametrize("truth", share(SITUATIONS, 8), ids=lambda truth: truth.name)
def test_a_page_makes_the_claims_of_its_situation(
    truth: Situation, page: Page, serve: Callable[..., str], tmp_path: Path
) -> None:
    folder = tmp_path / "situation"
    folder.mkdir()
    question = truth.write(folder)
    if question.page is None:
        pytest.skip("asked by the command line and the interface alone")
    page.add_init_script("delete window.SharedWorker")  # its requests never end for Playwright
    address = serve(require(question.base), **(question.settings or {}))
    page.goto(address.rstrip("/") + "/" + question.page.lstrip("/"))
    if question.press:
        page.locator(question.press).click()
    for key in sorted(key for key in truth.makes if not key.startswith("claim.part.")):  # words of others
        claim = page.locator(f'[data-claim="{key}"], [data-within="{key}"]').first
        claim.evaluate(_UNFOLD)
        expect(claim).to_be_visible()
        assert claim.inner_text() != key
    if not truth.makes:  # an answer is there before it is said that none of them is
        page.wait_for_load_state("networkidle")
    for key in sorted(truth.never):
        expect(page.locator(f'[data-claim="{key}"]')).to_have_count(0)

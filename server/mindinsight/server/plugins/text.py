"""Routes for texts in Markdown: every recorded step, rendered, searched and compared."""

import difflib
from collections.abc import Iterator
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Response

from mindinsight.server.claims import Claim
from mindinsight.server.formats.markdown_tree import MAX_TEXT, markdown_tree
from mindinsight.server.formats.payloads.media_payloads import text as read_text
from mindinsight.server.http.bulkhead_routes import Accept, Row, check_row, payload_row, payload_series
from mindinsight.server.http.responses import steps_answer
from mindinsight.server.plugins import Plugin
from mindinsight.server.store.series import ReferenceSeries

router = APIRouter()

Texts = Annotated[ReferenceSeries, payload_series("text")]
OneText = Annotated[ReferenceSeries, payload_row("text", "texts")]

_MOST_SEARCHED: Final = 64 << 20  # bytes of the newest texts that one search reads
_MOST_HITS: Final = 200  # shown at once; a longer search text has fewer
_AROUND: Final = 60  # characters shown on each side of a hit
_MOST_COMPARED: Final = 2000  # lines of each of two texts; difflib takes time with the square of it


@router.get("/steps")
def steps(run: str, series: Texts, accept: Accept = "") -> Response:
    """Return steps and times of all texts of a tag, in the order written."""
    return steps_answer(run, series, accept)


@router.get("/content")
def content(run: str, series: OneText, row: Row) -> dict[str, Any]:
    """Return one text as `source`, and as a `tree` of elements. `cut` is true if `source` is only the
    beginning of a long text, of which `length` is the number of characters."""
    source = _text(series, row)
    return {
        "run": run,
        "tag": series.tag,
        "step": int(series.steps[row]),
        "wall": float(series.walls[row]),
        "length": len(source),
        "cut": len(source) > MAX_TEXT,
        "source": source[:MAX_TEXT],
        "tree": markdown_tree(source),
    }


@router.get("/search")
def search(
    run: str, series: Texts, q: Annotated[str, Query(min_length=1, max_length=1000)]
) -> dict[str, Any]:
    """Return the rows that contain `q`, ignoring case, as `hits`, newest first, with the text around it. The
    search ends after 200 hits or 64 MiB of text: `searched` of `count` texts were read."""
    hits: list[dict[str, Any]] = []
    searched = size = 0
    for row in range(series.count - 1, -1, -1):
        size += series.reference(row).size
        if size > _MOST_SEARCHED or len(hits) == _MOST_HITS:
            break
        searched += 1
        source = _text(series, row)
        at = source.lower().find(q.lower())
        if at >= 0:
            excerpt = source[max(0, at - _AROUND) : at + len(q) + _AROUND]
            hits.append({"row": row, "step": int(series.steps[row]), "excerpt": excerpt})
    return {"run": run, "tag": series.tag, "hits": hits, "searched": searched, "count": series.count}


@router.get("/difference")
def difference(run: str, series: OneText, row: Row, other: Row) -> dict[str, Any]:
    """Return the lines of `row` and `other`, marked `" "` in both, `"-"` in the first, `"+"` in the second.
    Of each only the first 2000 lines are compared, and `cut` is true if there are more."""
    texts = _text(series, row), _text(check_row(series, other, "texts"), other)
    first, second = (text.splitlines() for text in texts)
    steps = int(series.steps[row]), int(series.steps[other])
    return {
        "run": run,
        "tag": series.tag,
        "steps": list(steps),
        "claims": [_text_claim(*texts, *steps).as_json()],
        "cut": max(len(first), len(second)) > _MOST_COMPARED,
        "lines": list(_compared(first[:_MOST_COMPARED], second[:_MOST_COMPARED])),
    }


def _text(series: ReferenceSeries, row: int) -> str:
    return read_text(series.read(row))


def _text_claim(first: str, second: str, before: int, after: int) -> Claim:
    """Return whether two texts are the same, to the last character."""
    facts = {"before": before, "after": after}
    if first == second:
        return Claim("claim.text.same", "clear", facts)
    if first.splitlines() == second.splitlines():
        return Claim("claim.text.line_ends", "found", facts)
    if first.splitlines()[:_MOST_COMPARED] == second.splitlines()[:_MOST_COMPARED]:
        return Claim("claim.text.differ_later", "found", {**facts, "lines": _MOST_COMPARED})
    return Claim("claim.text.differ", "found", facts)


def _compared(first: list[str], second: list[str]) -> Iterator[tuple[str, str]]:
    matcher = difflib.SequenceMatcher(None, first, second, autojunk=True)
    for operation, begin, end, other_begin, other_end in matcher.get_opcodes():
        if operation == "equal":
            yield from ((" ", line) for line in first[begin:end])
        else:
            yield from (("-", line) for line in first[begin:end])
            yield from (("+", line) for line in second[other_begin:other_end])


PLUGIN = Plugin(name="text", router=router)

from typing import Any

import pytest

from mindinsight.server.http.plain_queries import (
    NotPlainError,
    Reader,
    flag,
    fraction,
    number,
    plain_query,
    whole,
)

READERS: dict[str, Reader] = {"tag": str, "px": whole(4000), "low": number, "smooth": fraction, "log": flag}


@pytest.mark.parametrize(
    ("query", "values"),
    [
        (b"", {}),
        (b"tag=a%2Fb+c&run=x&run=y", {"tag": "a/b c", "run": ["x", "y"]}),
        (b"px=0&low=-1.5&smooth=0.25&log=true", {"px": 0, "low": -1.5, "smooth": 0.25, "log": True}),
        (b"tag=&run=", {"tag": "", "run": [""]}),
        (b"tag=%E6%8D%9F", {"tag": "损"}),
    ],
)
def test_plain_parameters_are_read(query: bytes, values: dict[str, Any]) -> None:
    assert plain_query(query, READERS, several=("run",)) == values


@pytest.mark.parametrize(
    "query",
    [
        b"other=1",
        b"tag=a&tag=b",
        b"px=4001",
        b"px=-1",
        b"px=1.0",
        b"px=+1",
        b"px=\xd9\xa1",
        b"px=",
        b"low=nan",
        b"low=1e3",
        b"low=inf",
        b"smooth=1",
        b"smooth=-0.1",
        b"log=1",
    ],
)
def test_anything_else_is_not_plain(query: bytes) -> None:
    with pytest.raises(NotPlainError):
        plain_query(query, READERS)

"""Routes of graphs over the graph of a real run."""

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture(scope="module")
def lenet(shared_samples: Any) -> Callable[..., Any]:
    client = shared_samples("lenet")
    (tag,) = client.get("/v2/graph/graphs", params={"run": "./lenet"}).json()["tags"]

    def ask(path: Any, body: Any = None, **params: Any) -> Any:
        address, query = f"/v2/graph/{path}", {"run": "./lenet", "tag": tag, **params}
        return (
            client.get(address, params=query)
            if body is None
            else client.post(address, params=query, json=body)
        )

    return ask

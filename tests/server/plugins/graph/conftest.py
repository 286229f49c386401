"""Routes of graphs over the graph of a real run."""

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture(scope="module")
def lenet(shared_samples: Any) -> Callable[..., Any]:
    client = shared_samples("lenet")
    (tag,) = client.get("/v2/graph/graphs", params={"run": "./lenet"}).json()["tags"]

    def ask(path: Any, **params: Any) -> Any:
        return client.get(f"/v2/graph/{path}", params={"run": "./lenet", "tag": tag, **params})

    return ask

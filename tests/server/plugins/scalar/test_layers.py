"""One scalar of all layers as a picture."""

from typing import Any

import numpy as np

from mindinsight.server.http.column_encoding import decode
from mindinsight.server.plugins.scalar.layers import layer_tags

from .runs import part, run


def test_layers_are_rows_in_the_order_of_their_numbers(ask: Any) -> None:
    tags = {f"layers.{layer}/norm": [part([0, 1], [layer, np.nan])] for layer in (10, 2, 0)}
    client = ask(run("./a", **tags, **{"layers.x/norm": [part([0], [1])], "loss": [part([0], [1])]}))
    answer = client.get("/layers", params={"run": "./a", "stem": "layers.*/norm"}).json()
    assert (answer["layers"], answer["tags"][1]) == ([0, 2, 10], "layers.2/norm")
    assert decode(answer["step"]).tolist() == [0, 1]
    np.testing.assert_array_equal(decode(answer["mean"]), [0, np.nan, 2, np.nan, 10, np.nan])
    assert decode(answer["not_finite"]).tolist() == [1, 3, 5]
    assert client.get("/layers", params={"run": "./gone", "stem": "*"}).status_code == 404


def test_a_stem_is_no_pattern_but_for_its_star() -> None:
    assert layer_tags(["a1b", "axb", "a1c"], "a*b") == [(1, "a1b")]
    assert layer_tags(["h.1.x", "hx1yx"], "h.*.x") == [(1, "h.1.x")]
    assert layer_tags(["a1"], "a1") == []

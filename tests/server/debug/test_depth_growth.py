"""Growth of outputs over the depth of a net: which tensors count, and which step is named."""

from pathlib import Path

import numpy as np

from mindinsight.server.debug.depth_growth import DepthGrowth
from mindinsight.server.debug.examine import measure_all
from mindinsight.server.formats.dumps import list_tensors, open_dump
from mindinsight.writer.recorders.dump import Dump


def claims(folder: Path) -> list[dict[str, object]]:
    dump, growth = open_dump(folder), DepthGrowth()
    for step in dump.steps(0):
        for result in measure_all(list_tensors(dump, 0, step).items):
            growth.add(result)
    return [dict(claim.values) for claim in growth.claims()]


def test_the_first_step_is_named_with_the_first_and_the_largest_layer(tmp_path: Path) -> None:
    dump = Dump(tmp_path)
    for number in range(3):
        step = dump.iteration(number)
        step.output("Default/mm-op0", np.full(8, 1e-9, np.float32))  # in no module
        for at in range(8):
            step.output(
                f"Default/{at}-Linear/mm-op{at + 1}", np.full(8, 3.0 ** (at * bool(number)), np.float32)
            )
            step.output(f"Gradients/Default/{at}-Linear/mm-op{at + 9}", np.full(8, 9.0**at, np.float32))
    (claim,) = claims(tmp_path)
    assert (claim["step"], claim["n"], claim["factor"]) == (1, 8, 2200.0)
    assert (claim["first"], claim["last"]) == ("Default_0-Linear_mm-op1", "Default_7-Linear_mm-op8")

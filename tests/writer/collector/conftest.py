from typing import Any

import numpy as np
import pytest

from mindinsight.writer.callbacks import CallbackList, RunContext


class Loop:
    """A training loop without a framework: three parameters, batches of pictures, a falling loss."""

    def __init__(self) -> None:
        self.arguments = {
            "mode": "train",
            "network": {"fc": {"weight": np.ones((3, 2)), "bias": np.zeros(3)}, "scale": np.ones(1)},
            "loss_fn": type("CrossEntropy", (), {})(),
            "optimizer": type("Adam", (), {})(),
            "epoch_num": 2,
            "batch_num": 10,
            "train_dataset": type("Digits", (), {})(),
            "train_dataset_element": (np.zeros((4, 1, 2, 2), np.uint8), np.zeros(4)),
        }

    def run(self, *callbacks: Any, at_step: Any = None, **changes: Any) -> None:
        arguments = {**self.arguments, **changes}
        context = RunContext(arguments)
        arguments = context.original_args()
        with CallbackList(list(callbacks)) as hooks:
            arguments["list_callback"] = hooks
            hooks.on_train_begin(context)
            for epoch in range(1, arguments["epoch_num"] + 1):
                arguments["cur_epoch_num"] = epoch
                hooks.on_train_epoch_begin(context)
                for batch in range(1, arguments["batch_num"] + 1):
                    step = (epoch - 1) * arguments["batch_num"] + batch
                    arguments["cur_step_num"] = step
                    arguments.setdefault("net_outputs", None)
                    if "net_outputs" not in changes:
                        arguments["net_outputs"] = np.array([1.0 / step, 3.0 / step])
                    if at_step:
                        at_step(step)
                    hooks.on_train_step_end(context)
                hooks.on_train_epoch_end(context)
            hooks.on_train_end(context)

    def evaluate(self, *callbacks: Any, **changes: Any) -> None:
        arguments = {"mode": "eval", "network": self.arguments["network"], "batch_num": 5}
        context = RunContext({**arguments, **changes})
        with CallbackList(list(callbacks)) as hooks:
            hooks.on_eval_begin(context)
            hooks.on_eval_step_end(context)
            hooks.on_eval_epoch_end(context)
            hooks.on_eval_end(context)


@pytest.fixture
def loop() -> Loop:
    return Loop()

"""The Python blocks of the documents that are for PyTorch, run as they are written over a small network."""

import json
import os
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import torch

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.document_blocks import needed_names, python_blocks, run_block, stand_ins


class Loader(list):
    """Batches of a network of two inputs: each has x and y, and unpacks to them."""

    def __init__(self):
        super().__init__(Batch(torch.randn(4, 2), torch.randn(4, 1)) for _ in range(3))


class Batch(SimpleNamespace):
    def __init__(self, x, y):
        super().__init__(x=x, y=y)

    def __iter__(self):
        return iter((self.x, self.y))


def given(model):
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    loss_fn = torch.nn.MSELoss()

    def train_step(batch, y=None):
        x, y = batch if y is None else (batch, y)
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        return loss.detach()

    names = {"model": model, "optimizer": optimizer, "loss_fn": loss_fn, "train_step": train_step}
    return {
        **stand_ins(),
        **{name: lambda value=value: value for name, value in names.items()},
        "loader": Loader,
    }


def main():
    from mindinsight.writer.integrations.lightning import FlightRecorderCallback

    blocks = [(document, code) for document, code, framework in python_blocks() if framework == "torch"]
    assert len(blocks) >= 5, blocks
    for document, code in blocks:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            settings = {
                "task": "tensor",
                "dump_path": "./out",
                "rank": [],
                "step": [],
                "level": "mix",
                "tensor": {},
            }
            Path("config.json").write_text(json.dumps(settings))
            names = given(torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1)))
            names |= {"Trainer": lambda: trainer, "FlightRecorderCallback": lambda: FlightRecorderCallback}
            assert needed_names(code) <= set(names), (document, needed_names(code) - set(names))
            run_block(code, names)
            print("ran", document, repr(code.splitlines()[0]))
            os.chdir("/")


def trainer(callbacks):
    import lightning

    return lightning.Trainer(callbacks=callbacks, logger=False, enable_checkpointing=False, accelerator="cpu")


if __name__ == "__main__":
    main()

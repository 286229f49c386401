"""The Python blocks of the documents that are for MindSpore, run as they are written over a small network."""

import json
import os
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import mindspore
import numpy as np
from mindspore import nn
from mindspore.train import LossMonitor, Model

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.document_blocks import needed_names, python_blocks, run_block, stand_ins


class Line(nn.Cell):
    """A network of two inputs."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(2, 1)

    def construct(self, x):
        return self.fc(x)


def rows(*_):
    """A data set of three batches of four rows."""
    data = {"x": np.random.rand(12, 2).astype(np.float32), "y": np.random.rand(12, 1).astype(np.float32)}
    return mindspore.dataset.NumpySlicesDataset(data).batch(4)


def given(network):
    loss_fn, optimizer = nn.MSELoss(), nn.Momentum(network.trainable_params(), 0.01, 0.9)
    model = Model(network, loss_fn, optimizer)
    names = {
        "nn": nn,
        "mindspore": mindspore,
        "network": network,
        "optimizer": optimizer,
        "grad_fn": mindspore.value_and_grad(lambda x, y: loss_fn(network(x), y), None, optimizer.parameters),
        "model": model,
        "LossMonitor": LossMonitor,
        "create_dataset_cifar10": rows,
        "args": SimpleNamespace(data_path="data"),
        "epochs": 1,
        "self": SimpleNamespace(),
        "x": mindspore.Tensor(1.0),
        "y": mindspore.Tensor(2.0),
    }
    return {
        **stand_ins(),
        **{name: lambda value=value: value for name, value in names.items()},
        "dataset": rows,
    }


def main():
    blocks = [(document, code) for document, code, framework in python_blocks() if framework == "mindspore"]
    assert len(blocks) >= 6, blocks
    for document, code in blocks:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            settings = {"rdr": {"enable": True, "mode": 1, "path": folder}}
            Path("mindspore_config.json").write_text(json.dumps(settings))
            params = {"batch_size": 4, "learning_rate": 0.01, "momentum": 0.9}
            os.environ["MINDINSIGHT_HYPER_CONFIG"] = json.dumps({"params": params, "summary_dir": "./trial"})
            names = given(Line())
            assert needed_names(code) <= set(names), (document, needed_names(code) - set(names))
            run_block(code.replace("/home/user/data_dump.json", str(dump_config(folder))), names)
            print("ran", document, repr(code.splitlines()[0]))
            os.chdir("/")


def dump_config(folder):
    path = Path(folder, "data_dump.json")
    common = {
        "dump_mode": 0,
        "path": f"{folder}/dump",
        "net_name": "Net",
        "iteration": "all",
        "saved_data": "full",
    }
    common |= {"input_output": 0, "kernels": [], "support_device": [0]}
    path.write_text(json.dumps({"common_dump_settings": common, "e2e_dump_settings": {"enable": True}}))
    return path


if __name__ == "__main__":
    main()

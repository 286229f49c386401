"""Our dump recorder inside PyTorch: operators, scopes, values, and a training it does not change.

Run with a Python that has torch.
"""

import json
import logging
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader

from mindinsight.proto import graph_pb2
from mindinsight.writer import DumpRecorder, PrecisionDebugger


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        for layer in self.layers:
            x = x + torch.relu(self.drop(layer(x)))
        return x


class Net(nn.Module):
    def __init__(self, recompute=False):
        super().__init__()
        self.block = Block()
        self.norm = nn.BatchNorm1d(4)
        self.head = nn.Linear(4, 3)
        self.recompute = recompute

    def forward(self, x):
        x = checkpoint(self.block, x, use_reentrant=False) if self.recompute else self.block(x)
        return torch.log(self.head(self.norm(x)).square() + 1)


class Planted(nn.Module):
    """A network whose square root gets a negative number."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        hidden = self.fc(x)
        return torch.sqrt(hidden - 100)  # the planted fault


def train(model, steps, recorder=None, seed=0):
    """Losses of some steps, to the last bit."""
    torch.manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    losses = []
    for _ in range(steps):
        loss = nn.functional.mse_loss(model(torch.randn(8, 4)), torch.randn(8, 3))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if recorder is not None:
            recorder.step()
    return losses


def made(kind=Net, **options):
    torch.manual_seed(1)
    return kind(**options)


def files(path, step=0):
    """Type, name and the rest of every tensor file of a step, in the order of writing."""
    (folder,) = Path(path).glob(f"rank_0/*/0/{step}")
    names = [file.name for file in folder.glob("*.npy")]
    return sorted(names, key=lambda name: int(name.split(".")[4]))


def nodes(path):
    (file,) = Path(path).glob("rank_0/graphs/*.pb")
    return list(graph_pb2.ModelProto.FromString(file.read_bytes()).graph.node)


def check_training_is_bit_identical(folder):
    plain = train(made(), 50)
    for number, options in enumerate(
        ({}, {"op_debug_mode": 3}, {"iteration": "0|10-12"}, {"input_output": 1})
    ):
        model = made()
        with DumpRecorder(model, {**options, "net_name": "Net"}, path=folder / str(number)) as recorder:
            assert train(model, 50, recorder) == plain, options


def check_scopes_and_lines(folder):
    model = made()
    with DumpRecorder(model, {"saved_data": "full"}, path=folder) as recorder:
        train(model, 1, recorder)
    names = [node.full_name for node in nodes(folder)]
    assert "Default/block-Block/layers-ModuleList/0-Linear/addmm-op0" in names, names
    assert "Default/norm-BatchNorm1d/native_batch_norm-op0" in names or any(
        "batch_norm" in n for n in names
    ), names
    assert "Gradients/Default/head-Linear/mm-op0" in names, names
    assert any(
        name.startswith("Gradients/Default/block-Block/layers-ModuleList/1-Linear/mm-op") for name in names
    )
    assert any(name.startswith("Default/optimizer-AdamW/") for name in names)
    code = {node.full_name: node.source_address[0] for node in nodes(folder) if node.source_address}
    (log,) = (name for name in names if name.startswith("Default/log-op"))
    assert "return torch.log(self.head(self.norm(x)).square() + 1)" in code[log], code[log]
    assert str(Path(__file__)) in code["Gradients/Default/head-Linear/mm-op0"]


def check_values_are_those_of_the_call(folder):
    """In-place operators: the input is the value before. Views, several outputs, all types."""

    class Strange(nn.Module):
        def forward(self, x):
            x = x + 0
            x.mul_(2)
            values, positions = x.topk(2)
            half = values.bfloat16() + values.bfloat16()
            spectrum = torch.fft.fft(values)
            return {"half": half, "spectrum": spectrum, "positions": positions.t(), "none": x[:0] * 2}

    with DumpRecorder(Strange(), {"saved_data": "full"}, path=folder) as recorder:
        result = recorder_models(recorder)(torch.tensor([[1.0, 2.0, 3.0]]))
        recorder.step()
    by_name = {".".join(name.split(".")[:1] + name.split(".")[5:]): name for name in files(folder)}
    read = {key: np.load(next(Path(folder).rglob(name))) for key, name in by_name.items()}
    assert read["mul_.input.0.DefaultFormat.Float32.npy"].tolist() == [[1, 2, 3]]
    assert read["mul_.output.0.DefaultFormat.Float32.npy"].tolist() == [[2, 4, 6]]
    assert read["topk.output.1.DefaultFormat.Int64.npy"].tolist() == [[2, 1]]
    assert read["add.output.0.DefaultFormat.BFloat16.npy"].tolist() == result["half"].float().tolist()
    spectrum = next(
        values for key, values in read.items() if key.endswith("Complex64.npy") and "output" in key
    )
    assert spectrum.tolist() == result["spectrum"].tolist()
    numbers = {node.op_type: node.attribute for node in nodes(folder) if node.attribute}
    (number,) = numbers["mul_"]
    assert (number.name, number.value.double_val) == ("input.1", 2.0)
    rows = next(Path(folder).rglob("statistic.csv")).read_text()
    assert ",bfloat16," in rows and "complex" not in rows


def recorder_models(recorder):
    return recorder._models[""]


def check_another_recorder_is_not_recorded(folder):
    """What a PrecisionDebugger computes is no part of the network."""
    counts = {}
    for beside in (False, True):
        model = made()
        debugger = PrecisionDebugger(task="statistics", dump_path=str(folder / "other"), level="mix")
        with DumpRecorder(model, {"saved_data": "full"}, path=folder / str(beside)) as recorder:
            if beside:
                debugger.start(model)
            train(model, 1, recorder)
            if beside:
                debugger.stop()
        debugger.close()
        counts[beside] = Counter(name.split(".")[0] for name in files(folder / str(beside)))
    assert counts[True] == counts[False], counts[True] - counts[False]


def check_recomputation_is_marked(folder):
    model = made(recompute=True)
    with DumpRecorder(model, {}, path=folder) as recorder:
        train(model, 1, recorder)
    scopes = {node.scope.partition("/")[0] for node in nodes(folder)}
    assert scopes == {"Default", "Gradients", "recompute_Default"}, scopes
    assert train(made(recompute=True), 5) == train(made(), 5)


def check_two_networks_and_mixed_precision(folder):
    generator, discriminator = made(Block), made(Net)
    scaler = torch.amp.GradScaler("cpu", enabled=True)
    optimizer = torch.optim.SGD([*generator.parameters(), *discriminator.parameters()], lr=0.01)
    with DumpRecorder({"G": generator, "D": discriminator}, {}, path=folder) as recorder:
        for _ in range(2):  # two gradients are accumulated
            with torch.autocast("cpu", torch.bfloat16):
                loss = discriminator(generator(torch.randn(8, 4))).float().mean()
            scaler.scale(loss).backward()
        scaler.step(optimizer)
        recorder.step()
    names = {node.full_name for node in nodes(folder)}
    assert any(name.startswith("Default/G-Block/layers-ModuleList/0-Linear/addmm") for name in names), names
    assert any(name.startswith("Gradients/Default/D-Net/head-Linear/") for name in names), names
    assert any(name.endswith("BFloat16.npy") for name in files(folder))


def check_workers_and_exceptions(folder):
    """Forked workers write nothing; an exception in the step ends the recorder cleanly."""
    model = made()
    try:
        with DumpRecorder(model, {}, path=folder) as recorder:
            for batch in DataLoader(torch.randn(8, 4), batch_size=4, num_workers=2):
                model(batch)
                recorder.step()
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    assert not recorder._capture.running
    assert files(folder, 0) and files(folder, 1)
    assert not any("stack" in name.split(".")[0] for name in files(folder)), (
        "collating batches is not training"
    )


def check_compiled_networks_are_named(folder, caught):
    model = made()
    model.head = torch.compile(model.head, backend="eager")
    with DumpRecorder(model, {}, path=folder):
        pass
    assert any("compiled regions: head" in text for text in caught), caught


def check_views_that_autograd_refuses(folder):
    """A view made under no_grad, then its base changed: `+=` on a part of a weight does both."""
    model = made()
    with DumpRecorder(model, {"saved_data": "full"}, path=folder) as recorder:
        for _ in range(2):
            with torch.no_grad():
                model.head.weight[0, 1] += 0.5
                row = model.head.weight[0]
            with torch.no_grad():
                model.head.weight.mul_(0.9)
            with torch.no_grad():
                row.clamp_(min=-1.0)
            model(torch.ones(2, 4)).sum().backward()
            recorder.step()
    assert not recorder.problem, recorder.problem
    assert any(name.startswith("add_.Default_add_") for name in files(folder, 1))


def check_a_planted_fault_is_found(folder):
    """Kept beside the tests as a sample: what ``mindinsight dump check`` says of it is tested there."""
    model = made(Planted)
    with DumpRecorder(model, {"saved_data": "full"}, path=folder) as recorder:
        model(torch.ones(2, 4)).sum().backward()
        recorder.step()
    (name,) = (name for name in files(folder) if name.startswith("sqrt.Default_sqrt") and "output" in name)
    assert np.isnan(np.load(next(Path(folder).rglob(name)))).all()


def check_ranks_of_torchrun(folder):
    script = Path(folder) / "ddp.py"
    script.parent.mkdir(parents=True)
    script.write_text(DDP.format(here=str(Path(__file__).parent), dump=str(Path(folder) / "dump")))
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--nproc-per-node=2",
        "--standalone",
        str(script),
    ]
    subprocess.run(command, check=True, env=environment, timeout=300, stdout=subprocess.DEVNULL)
    folders = sorted(path.name for path in (Path(folder) / "dump").iterdir())
    assert folders == ["rank_0", "rank_1"], folders
    for rank in folders:
        (graph,) = (Path(folder) / "dump" / rank / "graphs").glob("*.pb")
        graph_nodes = graph_pb2.ModelProto.FromString(graph.read_bytes()).graph.node
        assert any("fc-Linear/addmm" in node.full_name for node in graph_nodes)


DDP = """
import sys
sys.path.insert(0, {here!r})
import torch
from torch import nn
from recording_in_torch import Planted
from mindinsight.writer import DumpRecorder

torch.distributed.init_process_group("gloo")
model = nn.parallel.DistributedDataParallel(Planted())
with DumpRecorder(model, {{}}, path={dump!r}) as recorder:
    model(torch.ones(2, 4)).sum().backward()
    recorder.step()
torch.distributed.destroy_process_group()
"""


def main():
    caught = []
    handler = logging.Handler()
    handler.emit = lambda record: caught.append(record.getMessage())
    logging.getLogger("mindinsight").addHandler(handler)
    with tempfile.TemporaryDirectory() as base:
        folder = Path(base)
        check_training_is_bit_identical(folder / "identical")
        check_scopes_and_lines(folder / "scopes")
        check_values_are_those_of_the_call(folder / "values")
        check_another_recorder_is_not_recorded(folder / "beside")
        check_recomputation_is_marked(folder / "recompute")
        check_two_networks_and_mixed_precision(folder / "gan")
        check_workers_and_exceptions(folder / "workers")
        check_compiled_networks_are_named(folder / "compiled", caught)
        check_views_that_autograd_refuses(folder / "views")
        check_a_planted_fault_is_found(Path(sys.argv[1]) if len(sys.argv) > 1 else folder / "planted")
        check_ranks_of_torchrun(folder / "ddp")
        assert not [text for text in caught if "the training continues" in text], caught
    print(json.dumps({"recording in torch": torch.__version__, "ok": True}))


if __name__ == "__main__":
    main()

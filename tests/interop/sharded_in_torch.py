"""Recorders on a network that ``fully_shard`` spreads over two gloo processes: it trains on as without them.

Run with a Python that has torch.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from mindinsight.writer import DumpRecorder, FlightRecorder, PrecisionDebugger

STEPS, BROKEN = 6, 4


def network():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    fully_shard(model, mesh=init_device_mesh("cpu", (2,)))
    return model


def train(model, around, after=lambda: None, broken=False):
    """Losses to the last bit; ``around`` runs a step; the data of rank 1 break in one."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for number in range(STEPS):
        faulty = broken and number == BROKEN and torch.distributed.get_rank() == 1
        x = torch.full((2, 4), float("nan") if faulty else 1.0)

        def step(x=x):
            optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            return loss.detach()

        losses.append(float(around(step)).hex())
        optimizer.step()
        after()
    return losses


def work(folder):
    torch.distributed.init_process_group("gloo")
    plain = train(network(), lambda step: step())
    model = network()
    with DumpRecorder(model, {"saved_data": "full", "iteration": "1-2"}, path=folder / "dump") as recorder:
        assert train(model, lambda step: step(), recorder.step) == plain
    model = network()
    debugger = PrecisionDebugger(level="mix", summary_mode="md5", dump_path=str(folder / "probed"))

    def probed(step):
        debugger.start(model)
        loss = step()
        debugger.stop()
        debugger.step()
        return loss

    assert train(model, probed) == plain
    for broken in (False, True):
        model = network()
        recorder = FlightRecorder(model, folder / f"flight_{broken}", check_every=2, dumps=1)
        losses = train(model, recorder.step, broken=broken)
        recorder.close()
        assert losses[:BROKEN] == plain[:BROKEN] and (losses == plain) != broken, losses
    torch.distributed.destroy_process_group()


def check(folder):
    for rank in range(2):
        names = {path.name.split(".")[1] for path in (folder / "dump").glob(f"rank_{rank}/*/0/1/*.npy")}
        assert {"Default_0-Linear_addmm-op0", "Default__allgather_base_-op0", "2_weight"} <= names, names
        assert not any(name.startswith("Default_empty") for name in names), names
        (file,) = (folder / "dump").glob(f"rank_{rank}/graphs/*.pb")
        assert file.stat().st_size
        assert (folder / "probed" / "step0" / f"rank{rank}" / "dump.json").exists()
        assert not (folder / "flight_False" / "flight_dump").exists()
        step = folder / "flight_True" / "flight_dump" / f"rank_{rank}" / "Net" / "0" / str(BROKEN)
        assert any(step.glob("addmm.*.npy")), step


def main():
    with tempfile.TemporaryDirectory() as base:
        command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--standalone"]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        done = subprocess.run(
            [*command, __file__, base],
            check=False,
            env=environment,
            timeout=300,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
        check(Path(base))
    print(json.dumps({"sharded in torch": torch.__version__, "ok": True}))


if __name__ == "__main__":
    if "RANK" in os.environ:
        work(Path(sys.argv[1]))
    else:
        main()

"""Trainings of PyTorch in which a fault strikes at a step, under the flight recorder.

``python tests/interop/planted_in_torch.py`` checks what the recorder says of each. With ``--out DIR`` the
runs stay there: ``tests/data/flight/`` has them zipped, by a copy of this script in ``/home/user/train``.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import torch
from torch import distributed, nn

from mindinsight.proto import summary_pb2
from mindinsight.proto.framing import decode_header
from mindinsight.writer import FlightRecorder, SummaryRecord

STEPS, AT = 40, 25
EARLY = 10  # the step at which gradients begin to explode
RANKS, WRONG = 3, 1
LATER = 11  # steps after which a layer that died, or a slow explosion, is found at the latest


class Net(nn.Module):
    """Two layers, and a head that a fault may strike."""

    def __init__(self, head: str = "") -> None:
        super().__init__()
        self.fc1, self.act, self.fc2 = nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 2)
        self.head = head
        nn.init.constant_(self.fc2.bias, 5.0)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = self.act(self.fc1(x))
        scores = self.fc2(hidden)
        if self.head == "log":
            return torch.log(scores)
        if self.head == "sqrt":
            return torch.sqrt(scores)
        if self.head == "half":
            return (scores.half() * 10).float()
        return scores


@torch.no_grad()
def nan_in_data(model: Net, x: torch.Tensor) -> None:
    x[3, 1] = float("nan")


@torch.no_grad()
def nan_in_weight(model: Net, x: torch.Tensor) -> None:
    model.fc2.weight[0, 2] = float("nan")


@torch.no_grad()
def grown_weight(model: Net, x: torch.Tensor) -> None:
    model.fc2.weight.mul_(-1e4)


@torch.no_grad()
def large_batch(model: Net, x: torch.Tensor) -> None:
    x.mul_(1e4)


@torch.no_grad()
def dead_relu(model: Net, x: torch.Tensor) -> None:
    model.fc1.bias.sub_(1e3)


Fault: TypeAlias = Callable[[Net, torch.Tensor], None]
PLANTED: dict[str, tuple[str, Fault, str]] = {  # head, fault, beginning of the alert
    "nan_in_data": ("", nan_in_data, "Training fault: the loss is NaN"),
    "nan_in_weight": ("", nan_in_weight, "Training fault: the loss is NaN"),
    "logarithm": ("log", grown_weight, "Training fault: the loss is NaN"),
    "square_root": ("sqrt", grown_weight, "Training fault: the loss is NaN"),
    "half_overflow": ("half", large_batch, "Training fault: the loss is Inf"),
    "exploding_gradient": ("", grown_weight, "Training fault: the loss jumped to"),
    "dead_relu": ("", dead_relu, "Training warning: every output of act is zero"),
}


def train(folder: Path, name: str) -> None:
    """One training of thirty steps with its losses, settings and a checkpoint in the run."""
    head, fault, _ = PLANTED[name]
    torch.manual_seed(0)
    model = Net(head)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    with SummaryRecord(str(folder / name)) as record:
        recorder = FlightRecorder(model, folder / name, optimizer, dumps=1, record=record)
        for number in range(STEPS):
            x, y = torch.randn(8, 4), torch.rand(8, 2)
            if number == AT:
                fault(model, x)

            def step(x: torch.Tensor = x, y: torch.Tensor = y) -> torch.Tensor:
                optimizer.zero_grad()
                loss = nn.functional.mse_loss(model(x), y)
                loss.backward()
                return loss

            record.add_value("scalar", "loss", recorder.step(step).item())
            record.record(number)
            optimizer.step()
        recorder.close()


def reduce_gradients(model: nn.Module, wrong: bool) -> None:
    """The mean of the gradients over the ranks; one rank forgets to divide."""
    world = distributed.get_world_size()
    for parameter in model.parameters():
        assert parameter.grad is not None
        distributed.all_reduce(parameter.grad)
        parameter.grad.div_(1 if wrong else world)


def train_rank(folder: Path) -> None:
    """A rank of the training in which one rank reduces wrongly at a step."""
    distributed.init_process_group("gloo")
    torch.manual_seed(0)
    model = Net()
    torch.manual_seed(distributed.get_rank())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    recorder = FlightRecorder(model, folder / "wrong_reduction", optimizer, dumps=1)
    for number in range(STEPS):
        x, y = torch.randn(8, 4), torch.rand(8, 2)
        wrong = number >= AT and distributed.get_rank() == WRONG

        def step(x: torch.Tensor = x, y: torch.Tensor = y, wrong: bool = wrong) -> torch.Tensor:
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            reduce_gradients(model, wrong)
            return loss

        recorder.step(step)
        optimizer.step()
    recorder.close()
    distributed.destroy_process_group()


def train_replicated(folder: Path) -> None:
    """A rank of a DistributedDataParallel training in which the data of one rank are NaN at a step."""
    distributed.init_process_group("gloo")
    torch.manual_seed(0)
    model = nn.parallel.DistributedDataParallel(Net())
    torch.manual_seed(distributed.get_rank())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    recorder = FlightRecorder(model, folder / "nan_on_one_rank", optimizer, dumps=1, on_trigger="skip")
    for number in range(STEPS):
        x, y = torch.randn(8, 4), torch.rand(8, 2)
        if number == AT and distributed.get_rank() == WRONG:
            x[3, 1] = float("nan")

        def step(x: torch.Tensor = x, y: torch.Tensor = y) -> torch.Tensor:
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            return loss

        recorder.step(step)
        optimizer.step()
    recorder.close()
    assert all(bool(parameter.isfinite().all()) for parameter in model.parameters())
    distributed.destroy_process_group()


def alerts(directory: Path) -> list[summary_pb2.Alert]:
    messages = []
    for file in sorted(directory.glob("*.summary.*")):
        content = file.read_bytes()
        while content:
            length = decode_header(content[:12])
            event = summary_pb2.Event.FromString(content[12 : 12 + length])
            if event.HasField("alert"):
                messages.append(event.alert)
            content = content[16 + length :]
    return messages


def check(folder: Path) -> None:
    for name, (_, _, title) in PLANTED.items():
        train(folder, name)
        (first,) = alerts(folder / name)  # whatever follows from it
        assert first.title.startswith(title), (name, first.title)
        step = int(first.text.split()[1].rstrip(":"))
        assert AT <= step <= AT + (LATER if "warning" in title else 0), (name, first.text)
        assert first.dump == "flight_dump", first
        assert (folder / name / "flight_dump" / "rank_0" / "Net" / "0" / f"{step}").is_dir()
    check_explosions()
    launch("reduce", RANKS, folder)
    for rank in range(RANKS):
        (first,) = alerts(folder / "wrong_reduction" / f"rank_{rank}")
        assert first.title.startswith(f"Training fault: the gradients of rank {WRONG} differ"), first.title
        assert first.dump == "../flight_dump"
        assert (folder / "wrong_reduction" / "flight_dump" / f"rank_{rank}" / "Net" / "0" / "25").is_dir()

    launch("replicate", 2, folder)
    first, second = (alerts(folder / "nan_on_one_rank" / f"rank_{rank}") for rank in range(2))
    assert len(first) == len(second) == 1, (first, second)  # the weights were left alone: only one step broke
    assert first[0].title.endswith("; rank 1 reported it"), first[0].title
    assert second[0].title == "Training fault: the loss is NaN", second[0].title
    for rank in range(2):
        assert (folder / "nan_on_one_rank" / "flight_dump" / f"rank_{rank}" / "Net" / "0" / "25").is_dir()


def check_explosions() -> None:
    """Gradients that explode from step 10 on are found within a few steps, while they are finite."""
    for rate in (1.5, 2.0, 10.0, 1000.0):
        with tempfile.TemporaryDirectory() as folder:
            torch.manual_seed(0)
            model = Net()
            recorder = FlightRecorder(model, folder, dumps=0)
            for number in range(STEPS):

                def step(number: int = number, model: Net = model, rate: float = rate) -> torch.Tensor:
                    model.zero_grad()
                    x = torch.randn(8, 4) * rate ** min(max(0, number - EARLY + 1), 12)
                    loss = nn.functional.mse_loss(model(x), torch.rand(8, 2))
                    loss.backward()
                    return loss

                recorder.step(step)
            recorder.close()
            (first,) = alerts(Path(folder))
            seen_at = int(first.text.split()[1].rstrip(":"))
            print(f"explosion by {rate:g} a step from step {EARLY} on: {first.text}")
            assert EARLY <= seen_at <= EARLY + (LATER if rate < 10 else 1), (rate, first.text)


def launch(training: str, ranks: int, folder: Path) -> None:
    """Run a training in processes that torchrun starts."""
    launcher = ["-m", "torch.distributed.run", f"--nproc_per_node={ranks}", "--master_port=29719"]
    subprocess.run(
        [sys.executable, *launcher, __file__, "--training", training, "--out", str(folder)], check=True
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--training", help="be one process of a distributed training: reduce, replicate")
    options = parser.parse_args()
    torch.set_num_threads(1)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    if options.training:
        (train_rank if options.training == "reduce" else train_replicated)(options.out)
        return
    with tempfile.TemporaryDirectory() as temporary:
        check(options.out or Path(temporary))
    print(json.dumps({"faults planted in torch": torch.__version__, "ok": True}))


if __name__ == "__main__":
    main()

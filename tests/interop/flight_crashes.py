"""The flight recorder when things go wrong around it: killed, no room, interrupted, workers, hooks.

Run with a Python that has torch. A limit on the size of files stands for a full disk.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from flight_in_torch import Net, alerts, data_fault, dumped, train
from torch import nn
from torch.utils.data import DataLoader, Dataset

from mindinsight.writer import FlightRecorder


class Rows(Dataset):
    """Rows of which one holds NaN, in worker processes."""

    def __len__(self) -> int:
        return 64

    def __getitem__(self, number: int) -> torch.Tensor:
        row = torch.full((4,), float(number) / 64)
        return row * float("nan") if number == 40 else row


def train_large(folder: str) -> None:
    """A fault in every step, of a network whose dump takes a while to write."""
    model = nn.Sequential(*[nn.Linear(512, 512) for _ in range(20)])
    recorder = FlightRecorder(model, folder, dumps=100)
    for _ in range(100):
        x = torch.full((64, 512), float("nan"))
        recorder.step(lambda x=x: model(x).sum())
        print("dumped", flush=True)


def check_killed_while_it_writes(folder: Path) -> None:
    command = [sys.executable, __file__, "--train", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "dumped\n"
    written = folder / "flight_dump" / "rank_0" / "Net" / "0" / "1"
    end = time.monotonic() + 60
    while len(list(written.glob("*.npy"))) < 5 and time.monotonic() < end:
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.wait()
    files = sorted((folder / "flight_dump").rglob("*.npy"), key=lambda file: file.stat().st_mtime_ns)
    torn = [file for file in files if not is_whole(file)]
    assert len(files) > 5 and set(torn) <= {files[-1]}, torn  # at most the one it was at
    assert len(alerts(folder)) >= 1  # that of the first step, which was complete
    json.loads((folder / "flight_dump" / "rank_0" / "health_0.json").read_text())


def is_whole(file: Path) -> bool:
    try:
        np.load(file)
    except (ValueError, EOFError, OSError):
        return False
    return True


def check_no_room_for_the_dump(folder: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, before[1]))
    try:
        losses, messages, _ = train(folder, fault=data_fault, steps=30, dumps=1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    np.testing.assert_array_equal(losses, train(fault=data_fault)[0])  # the training went on as without it
    assert (
        "is incomplete: OSError" in messages[0].text or "could not be recorded again" in messages[0].text
    ), messages


def check_an_exception_in_the_step(folder: Path) -> None:
    model = Net()
    with FlightRecorder(model, folder) as recorder:
        try:
            recorder.step(lambda: model(torch.ones(1, 5)))
        except RuntimeError as error:
            assert "shapes" in str(error), error
        else:
            raise AssertionError("nothing was raised")
        recorder.step(lambda: model(torch.ones(4, 4)).sum())
    assert alerts(folder) == [] and not (folder / "flight_dump").exists()
    assert not nn.modules.module._global_forward_hooks


def check_interrupted_while_it_records(folder: Path) -> None:
    model, calls = Net(), []
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step() -> torch.Tensor:
        calls.append(1)
        if len(calls) == 2:  # the second run of the step
            raise KeyboardInterrupt
        optimizer.zero_grad()
        loss = model(torch.full((4, 4), float("nan"))).sum()
        loss.backward()
        return loss

    with FlightRecorder(model, folder) as recorder:
        try:
            recorder.step(step)
        except KeyboardInterrupt:
            pass
        else:
            raise AssertionError("nothing was raised")
    assert model.fc1.weight.grad is not None  # of the first run
    assert not nn.modules.module._global_forward_hooks
    assert not torch.utils._python_dispatch._get_current_dispatch_mode()


def check_workers_of_a_loader_are_left_alone(folder: Path) -> None:
    model = Net()
    with FlightRecorder(model, folder, dumps=2) as recorder:
        for batch in DataLoader(Rows(), batch_size=8, num_workers=2):
            recorder.step(lambda batch=batch: model(batch).sum())
    assert dumped(folder)[0] == 5  # the row 40
    assert "the loss is NaN" in alerts(folder)[0].title


def check_hooks_of_others_stay(folder: Path) -> None:
    model, seen = Net(), []
    handle = model.fc1.register_forward_hook(lambda module, inputs, output: seen.append(1) or output * 2)
    plain = train(model=model)
    model.load_state_dict(Net().state_dict())
    watched = train(folder, model=model, check_every=1)
    assert len(plain[0]) == len(watched[0]) and seen
    handle.remove()
    count = len(seen)
    model(torch.ones(4, 4))
    assert len(seen) == count


def check_two_recorders_dump_once(folder: Path) -> None:
    model = Net()
    first, second = (FlightRecorder(model, folder / name) for name in ("a", "b"))
    bad = torch.full((4, 4), float("nan"))
    first.step(lambda: second.step(lambda: model(bad).sum()))
    first.close()
    second.close()
    assert not (folder / "a" / "flight_dump").exists() and dumped(folder / "b") == [0]
    torch.save(model, folder / "model.pt")  # no mark of ours is in the way


def main() -> None:
    if sys.argv[1:2] == ["--train"]:
        train_large(sys.argv[2])
        return
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with tempfile.TemporaryDirectory() as base:
        for name, check in sorted(globals().items()):
            if name.startswith("check_"):
                check(Path(base) / name)
    print(json.dumps({"flight recorder in trouble": torch.__version__, "ok": True}))


if __name__ == "__main__":
    main()

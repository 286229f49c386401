"""Our flight recorder inside PyTorch: planted faults, and a training that it does not change.

Run with a Python that has torch.
"""

import json
import tempfile
from itertools import pairwise
from pathlib import Path
from statistics import median
from unittest import mock

import numpy as np
import torch
from torch import nn

from mindinsight.proto import summary_pb2
from mindinsight.proto.framing import decode_header
from mindinsight.writer import DumpRecorder, FlightRecorder, TrainingFaultError
from mindinsight.writer.recorders import fault_signs, flight_recorder


class Net(nn.Module):
    def __init__(self, domain=False):
        super().__init__()
        self.fc1, self.norm, self.drop, self.fc2 = (
            nn.Linear(4, 8),
            nn.BatchNorm1d(8),
            nn.Dropout(0.5),
            nn.Linear(8, 1),
        )
        self.domain = domain

    def forward(self, x):
        hidden = self.drop(torch.relu(self.norm(self.fc1(x))))
        out = self.fc2(hidden)
        return torch.log(out) if self.domain else out


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.into, self.cell, self.head = nn.Linear(4, 16), nn.Linear(16, 16), nn.Linear(16, 1)

    def forward(self, x):
        hidden = self.into(x)
        for _ in range(4):
            hidden = torch.tanh(self.cell(hidden))
        return self.head(hidden)


def train(directory=None, steps=30, fault=None, at=25, model=None, rate=0.05, **options):
    """Losses, alerts and the last weights of a training in which ``fault(model, x)`` strikes at a step."""
    torch.manual_seed(0)
    model = model or Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    losses = []
    recorder = FlightRecorder(model, directory, optimizer=optimizer, **options) if directory else None
    for number in range(steps):
        x, y = torch.randn(16, 4), torch.randn(16, 1)
        if fault and number == at:
            fault(model, x)

        def step(x=x, y=y):
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            return loss

        loss = recorder.step(step) if recorder else step()
        optimizer.step()
        losses.append(loss.item())
    if recorder:
        recorder.close()
    return losses, alerts(directory), [parameter.detach().clone() for parameter in model.parameters()]


def alerts(directory):
    messages = []
    for file in sorted(Path(directory).glob("*.summary.*")) if directory else []:
        for record in records(file.read_bytes()):
            event = summary_pb2.Event.FromString(record)
            if event.HasField("alert"):
                messages.append(event.alert)
    return messages


def records(content):
    while content:
        length = decode_header(content[:12])
        yield content[12 : 12 + length]
        content = content[16 + length :]


def data_fault(model, x):
    x[3, 1] = float("nan")


def weight_fault(model, x):
    with torch.no_grad():
        model.fc2.weight *= 1e30


def dumped(directory):
    folder = Path(directory) / "flight_dump" / "rank_0" / "Net" / "0"
    return sorted(int(step.name) for step in folder.iterdir()) if folder.is_dir() else []


def check_healthy_training_is_bit_identical(folder):
    plain = train()
    watched = train(folder, check_every=5)
    assert plain[0] == watched[0]
    assert all(torch.equal(ours, theirs) for ours, theirs in zip(watched[2], plain[2], strict=True))
    assert watched[1] == [] and dumped(folder) == []


def check_nan_in_data(folder):
    plain = train(fault=data_fault)[0]
    with mock.patch.object(flight_recorder, "_log") as log:
        losses, messages, _ = train(folder, fault=data_fault, dumps=1)
    (warning,) = log.warning.call_args_list  # once, although every step after it is NaN as well
    line = warning.args[0] % warning.args[1:]
    assert "Step 25: the loss is NaN" in line, line
    assert line.endswith(f"mindinsight explain {folder.name} --summary-base-dir {folder.parent}"), line
    np.testing.assert_array_equal(losses, plain)  # continued, generators as the first run left them
    assert messages[0].title == "Training fault: the loss is NaN", messages
    assert "Its dump is flight_dump, step 25" in messages[0].text and messages[0].dump == "flight_dump", (
        messages[0].text
    )
    assert len(messages) == 1, messages  # the weights are NaN from then on: the same fault
    assert dumped(folder) == [25]
    health = json.loads((folder / "flight_dump" / "rank_0" / "health_25.json").read_text())
    assert 0 <= health["healthy_step"] < 25 and set(health["weights"]) >= {"fc1.weight", "norm.weight"}
    assert health["outputs"]["fc1"] > 0


def check_weights_that_grew_are_named(folder):
    _, messages, _ = train(folder, fault=weight_fault, check_every=10)
    assert messages[0].title.startswith("Training fault: the "), messages[0].title
    assert "The weight fc2.weight has norm" in messages[0].text and "at step 20" in messages[0].text, (
        messages[0].text
    )


def check_norms_of_outputs_are_recorded_with_the_fault(folder):
    train(folder, fault=weight_fault, steps=26, check_every=10)
    rank = folder / "flight_dump" / "rank_0"
    health = json.loads((rank / "health_25.json").read_text())
    grown = {name for name, norm in health["outputs_now"].items() if norm > 1e20 * health["outputs"][name]}
    assert grown == {"fc2", ""} and list(health["outputs_now"])[-1] == "", health
    assert health["repeated"] == []
    assert not [*rank.rglob("linalg_vector_norm.*")]  # the measurement is no operator of the dump


def check_a_module_that_runs_several_times_is_marked(folder):
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc, self.head = nn.Linear(4, 4), nn.Linear(4, 1)

        def forward(self, x):
            return self.head(self.fc(torch.tanh(self.fc(x))))

    train(folder, model=Twice(), fault=data_fault, steps=26)
    assert json.loads((folder / "flight_dump" / "rank_0" / "health_25.json").read_text())["repeated"] == []

    def far(model, x):
        with torch.no_grad():
            model.head.weight *= 1e4

    train(folder / "far", model=Twice(), fault=far, steps=26)
    assert json.loads((folder / "far" / "flight_dump" / "rank_0" / "health_25.json").read_text())[
        "repeated"
    ] == ["fc"]


def check_norms_of_healthy_trainings_change_little(folder):
    """CHANGED of debug/compare/norm_changes.py: small norms, below the median, are left out there, too."""
    known, largest = [], 0.0

    class Record(fault_signs.HealthRecord):
        def update(self, step, outputs, weights):
            known.append((outputs, weights))
            super().update(step, outputs, weights)

    for number, (rate, model) in enumerate(((0.05, Net()), (0.01, Recurrent()), (0.05, Recurrent()))):
        known.clear()
        with mock.patch.object(fault_signs, "HealthRecord", Record):
            train(folder / str(number), steps=150, model=model, rate=rate, check_every=10)
        for before, after in pairwise(known):
            for then, now in zip(before, after, strict=True):
                middle = median(then.values())
                large = [name for name in now if now[name] >= middle and then[name] > 0]
                largest = max([largest, *(now[name] / then[name] for name in large)])
    assert 1 < largest < 30, largest


def check_an_operators_domain_and_raising(folder):
    try:
        train(folder, model=Net(domain=True), on_trigger="raise")
    except TrainingFaultError as error:
        assert "Step 0: the loss is NaN" in str(error)
    else:
        raise AssertionError("nothing was raised")
    assert dumped(folder) == [0]


def check_skipping_leaves_the_weights_alone(folder):
    _, _, weights = train(folder, fault=data_fault, at=25, steps=26, on_trigger="skip")
    _, _, before = train(steps=25)
    assert all(torch.equal(ours, theirs) for ours, theirs in zip(weights, before, strict=True))


def check_a_jump(folder):
    def far(model, x):
        with torch.no_grad():
            model.fc2.weight *= 1e3

    _, messages, _ = train(folder, fault=far)
    assert "jumped to" in messages[0].title, messages[0].title


def check_a_fault_that_does_not_come_again(folder):
    calls = []

    def once(model, x):
        def replace_input(*_):
            calls.append(1)
            x.fill_(float("nan") if len(calls) == 1 else 1.0)

        model.register_forward_pre_hook(replace_input)

    _, messages, _ = train(folder, fault=once, steps=26)
    assert "did not break when it ran again" in messages[0].text, messages[0].text


def check_masks_are_no_faults(folder):
    class Masked(nn.Module):
        def forward(self, x):
            return x.masked_fill(torch.ones_like(x).triu(1) > 0, -torch.inf)

    model = nn.Sequential(nn.Linear(4, 4), Masked(), nn.Softmax(-1), nn.Linear(4, 1))
    _, messages, _ = train(folder, model=model, check_every=1)
    assert not messages, messages
    assert not (folder / "flight_dump").exists()
    _, messages, _ = train(folder, model=model, check_every=1, fault=data_fault, steps=26)
    assert messages and messages[0].title == "Training fault: the loss is NaN", messages


def check_a_scaler_looks_for_its_scale(folder):
    """Gradients overflow until the scale has fallen far enough: no fault; NaN in the data is one."""

    def alerts_of(root, forward, initial, steps):
        torch.manual_seed(0)
        model = Net()
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-9)
        scaler = torch.amp.GradScaler("cpu", init_scale=initial)
        recorder = FlightRecorder(model, root, optimizer=optimizer, scaler=scaler)
        for _ in range(steps):
            x = torch.randn(16, 4)

            def step(x=x):
                optimizer.zero_grad()
                loss = forward(model(x))
                scaler.scale(loss).backward()
                return loss

            recorder.step(step)
            scaler.step(optimizer)
            scaler.update()
        recorder.close()
        return alerts(root), scaler.get_scale()

    messages, scale = alerts_of(folder / "falls", lambda out: (1e3 * out).square().mean(), 2.0**126, 40)
    assert not messages and 1 < scale < 2.0**126, (messages, scale)
    messages, scale = alerts_of(folder / "never", lambda out: (0 * out).abs().sqrt().sum(), 16.0, 8)
    assert (
        messages[0].text.startswith("Step 4")
        and "although the loss scale has fallen to 1" in messages[0].title
    ), (
        messages,
        scale,
    )


def check_the_optimizer_stays_outside(folder):
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with FlightRecorder(model, folder, optimizer=optimizer) as recorder:
        try:
            recorder.step(lambda: (model(torch.randn(4, 4)).sum().backward(), optimizer.step()))
        except RuntimeError as error:
            assert "call it after" in str(error)
        else:
            raise AssertionError("the optimizer ran inside")


def check_a_budget_cuts_the_dump(folder):
    _, messages, _ = train(folder, fault=data_fault, steps=26, budget=2000)
    files = list((folder / "flight_dump").rglob("*.npy"))
    assert files and sum(np.load(file).nbytes for file in files) <= 2000
    assert "is incomplete: " in messages[0].text and "beyond 2000 bytes" in messages[0].text, messages[0].text


def check_a_dump_of_the_same_steps_holds_no_measurements(folder):
    """A dump recorder beside it records the same operators as alone."""

    def recorded(path, directory):
        settings = {"net_name": "Net", "iteration": "0|2", "saved_data": "statistic"}
        with DumpRecorder(model := Net(), settings, path) as recorder:
            flight = FlightRecorder(model, directory) if directory else None
            for number in range(3):
                step = lambda: model(torch.randn(4, 4)).sum().backward()  # noqa: E731
                flight.step(step, number) if flight else step()
                recorder.step()
        tables = sorted(path.rglob("statistic.csv"))
        return [line.split(",")[1] for table in tables for line in table.read_text().splitlines()]

    assert recorded(folder / "both", folder / "flight") == recorded(folder / "alone", None) != []


def main():
    with tempfile.TemporaryDirectory() as base:
        for name, check in sorted(globals().items()):
            if name.startswith("check_"):
                folder = Path(base) / name
                check(folder)
    print(json.dumps({"flight recorder in torch": torch.__version__, "ok": True}))


if __name__ == "__main__":
    main()

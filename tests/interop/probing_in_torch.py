"""Our PrecisionDebugger beside real msprobe: entries, order, statistics, files, and msprobe's own comparison.

Run with a Python that has torch and mindstudio-probe.
"""

import csv
import json
import logging
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

ONLY_OURS = {"VF.lstm"}  # functions that msprobe does not record, and we do


class Block(nn.Module):
    def __init__(self, inplace):
        super().__init__()
        self.norm = nn.LayerNorm(6)
        self.fc = nn.Linear(6, 6)
        self.act = nn.ReLU(inplace)

    def forward(self, x, *, scale=None):
        out = x + self.act(self.fc(self.norm(x)))
        return out if scale is None else out * scale


class Net(nn.Module):
    """Modules called twice, in place, with tensors by name, several outputs and operators of all forms."""

    def __init__(self, attention=False):
        super().__init__()
        self.attends = attention
        self.embed = nn.Embedding(9, 6)
        self.block = Block(inplace=attention)  # msprobe misses the backward of those in place
        self.attention = nn.MultiheadAttention(6, 2, batch_first=True)
        self.lstm = nn.LSTM(6, 6, batch_first=True)
        self.conv = nn.Sequential(nn.Conv1d(5, 4, 1), nn.BatchNorm1d(4), nn.Identity(), nn.MaxPool1d(2))
        self.drop = nn.Dropout(0.5)
        self.head = nn.Linear(12, 3)

    def forward(self, index):
        hidden = self.block(self.block(self.embed(index)), scale=torch.full((6,), 1.5))
        if self.attends:  # msprobe makes three tensors of the one, and so another computation
            hidden = hidden + self.attention(hidden, hidden, hidden)[0]
        hidden, _ = self.lstm(hidden)
        hidden = self.drop(self.conv(hidden)).flatten(1)
        hidden = 2 * hidden - 1 + hidden**2 / 4
        hidden += functional.gelu(hidden.detach(), approximate="tanh").clamp(min=-0.5)
        hidden = torch.where(hidden > 0, hidden, hidden * 0.1)
        parts = torch.einsum("ab,cb->ac", hidden, hidden).softmax(-1) @ hidden
        return self.head(torch.cat(parts.split(6, dim=1), dim=1).to(torch.float32))


def train(debugger, steps, model, stop=True):
    """Losses as they were, bit by bit, with a recorder or with none."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    losses = []
    for step in range(steps):
        torch.manual_seed(step)
        index, target = torch.randint(0, 9, (4, 5)), torch.randint(0, 3, (4,))
        if debugger is not None:
            debugger.start(model)
        for _ in range(2):  # gradients of two batches
            loss = functional.cross_entropy(model(index), target)
            loss.backward()
        if model.attends:  # else msprobe splits the division in two
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        if debugger is not None:
            debugger.stop()
            debugger.step()
        losses.append(loss.item().hex())
    return losses


def network(attention=False):
    torch.manual_seed(7)
    return Net(attention)


def record(recorder, task, level, mode, directory):
    """Two steps with one of the recorders, in this process."""
    keys = {"scope": [], "list": [], "data_mode": ["all"], "summary_mode": mode}
    config = {"task": task, "level": level, "rank": [], "step": [], "dump_path": directory, task: keys}
    if recorder == "msprobe":
        config["risk_level"] = "ALL"  # else it leaves out what it holds to be harmless, as cat
    path = Path(f"{directory}.json")
    path.write_text(json.dumps(config))
    if recorder == "msprobe":
        from msprobe.pytorch import PrecisionDebugger
    else:
        from mindinsight.writer import PrecisionDebugger
    train(PrecisionDebugger(config_path=str(path)), 2, network())


def recorded(directory, recorder, *options):
    root = directory / "-".join([recorder, *options])
    subprocess.run(
        [sys.executable, __file__, recorder, *options, str(root)],
        check=True,
        capture_output=True,
        timeout=300,
    )
    return root


def loaded(root, step, name):
    (path,) = root.glob(f"step{step}/*/{name}.json")
    return json.loads(path.read_text())


def function(entry):
    return entry.rsplit(".", 2)[0]


def compare(directory, task, level, mode):
    """The same training recorded by both gives the same files."""
    with ThreadPoolExecutor(2) as processes:
        options = (task, level, mode)
        theirs, ours = processes.map(lambda name: recorded(directory, name, *options), ("msprobe", "ours"))
    for step in range(2):
        if task != "structure":
            left, right = (loaded(root, step, "dump") for root in (theirs, ours))
            assert set(left) == set(right)
            check_entries(left["data"], right["data"])
        left, right = (loaded(root, step, "construct") for root in (theirs, ours))
        check_entries(left, right, ordered=False)
        left, right = (loaded(root, step, "stack") for root in (theirs, ours))
        check_stacks(left, right)
    files = [{path.name for path in root.glob("step*/*/dump_tensor_data/*")} for root in (theirs, ours)]
    left, right = ({name for name in names if known(name)} for names in files)
    assert left == right, left ^ right
    assert bool(left) == (task == "tensor")
    if task == "tensor":
        check_tensors(theirs, ours)
    print(f"{task} {level} {mode}: as msprobe")
    return theirs, ours


def known(name):
    """Whether an entry is one that both record."""
    return not any(name.startswith(f"{other}.") for other in ONLY_OURS)


def check_entries(left, right, ordered=True):
    left, right = ({key: value for key, value in side.items() if known(key)} for side in (left, right))
    assert set(left) == set(right), (sorted(set(left) - set(right)), sorted(set(right) - set(left)))
    if ordered:  # ours has a module's backward before its parameters' gradients, not after
        orders = [[key for key in side if ".parameters_grad." not in key] for side in (left, right)]
        assert orders[0] == orders[1]
    for key, value in left.items():
        same = equal(value, right[key], not function(key).endswith("_"))
        assert same, f"{key}\n{json.dumps(value)}\n{json.dumps(right[key])}"


def equal(left, right, hashed=True):
    """Equality, but for a dtype or device by position, of which msprobe writes nothing.

    Its hashes are computed later, when an operator in place may have changed the tensor.
    """
    if isinstance(left, dict) and isinstance(right, dict):
        if not left and right.get("type") in ("torch.dtype", "torch.device"):
            return True
        keys = [key for key in left if hashed or key != "md5"]
        return left.keys() == right.keys() and all(
            equal(left[key], right[key], hashed and key not in ("input_args", "parameters")) for key in keys
        )
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(equal(*pair, hashed) for pair in zip(left, right, strict=True))
    return left == right


def check_stacks(left, right):
    """Lines of code of each entry, above the scripts."""
    stacks = [{name: frames for names, frames in side.values() for name in names} for side in (left, right)]
    check_entries(*stacks, ordered=False)


def check_tensors(theirs, ours):
    for path in theirs.glob("step*/*/dump_tensor_data/*"):
        step = path.parts[-4]
        (other,) = ours.glob(f"{step}/*/dump_tensor_data/{path.name}")
        left, right = torch.load(path), torch.load(other)
        assert left.dtype == right.dtype and torch.equal(left.nan_to_num(), right.nan_to_num()), path.name


def compare_by_msprobe(directory, target, golden):
    """``msprobe compare`` finds every entry of one in the other, and no difference."""
    output = directory / f"{target.name}_{golden.name}"
    (left,), (right,) = (list(root.glob("step1/*")) for root in (target, golden))
    command = [sys.executable, "-c", "from msprobe.msprobe import main; main()", "compare"]
    options = ["-tp", str(left / "dump.json"), "-gp", str(right / "dump.json"), "-o", str(output)]
    done = subprocess.run([*command, *options], check=False, capture_output=True, text=True, timeout=300)
    results = list(output.glob("compare_result*.csv"))
    assert done.returncode == 0 and results, done.stdout[-3000:] + done.stderr[-3000:]
    with results[0].open(newline="") as file:
        rows = list(csv.DictReader(file))
    wrong = [row for row in rows if row["Result"] != "pass" and not differs(row)]
    assert len(rows) > 100 and not wrong, wrong[:5]
    return f"msprobe compares {target.name} with {golden.name}: {len(rows)} entries agree"


def differs(row):
    """Whether the two may differ: entries that we alone record, and hashes of what is changed in place."""
    names = [name for name in (row["NPU Name"], row["Bench Name"]) if name != "N/A"]
    in_place = "NPU MD5" in row and names[0].partition(".forward.")[0].rpartition(".")[0].endswith("_")
    return in_place or (len(names) == 1 and not known(names[0]))


def check_training(directory):
    """Fifty steps with the recorder give the losses without it, and a full disk is logged once."""
    from mindinsight.writer import PrecisionDebugger

    plain = train(None, 50, network(attention=True))
    debugger = PrecisionDebugger(task="statistics", level="mix", dump_path=str(directory / "fifty"))
    assert train(debugger, 50, network(attention=True)) == plain
    messages = []
    handler = logging.Handler()
    handler.emit = lambda message: messages.append(message.getMessage())
    logging.getLogger("mindinsight").addHandler(handler)
    blocked = directory / "blocked"
    broken = PrecisionDebugger(task="tensor", level="mix", dump_path=str(blocked))
    blocked.write_text("a file where the directory should be")
    assert train(broken, 3, network(attention=True)) == plain[:3]
    assert len(messages) == 1, messages
    print("losses are the same to the last bit; an error is logged once")


def check_checkpoint(directory):
    """What activation checkpointing computes again is recorded as further calls."""
    from mindinsight.writer import PrecisionDebugger

    class Again(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(3, 3)

        def forward(self, x):
            return checkpoint(self.fc, x, use_reentrant=False).sum()

    model = Again()
    debugger = PrecisionDebugger(task="statistics", level="mix", dump_path=str(directory / "again"))
    debugger.start(model)
    model(torch.ones(2, 3)).backward()
    debugger.step()
    data = loaded(directory / "again", 0, "dump")["data"]
    assert "Module.fc.Linear.forward.1" in data, list(data)


def check_overflow(directory):
    """``overflow_check`` keeps the entries whose output is not finite, with their tensors."""
    from mindinsight.writer import PrecisionDebugger

    debugger = PrecisionDebugger(task="overflow_check", dump_path=str(directory / "overflow"))
    debugger.start()
    torch.sqrt(torch.relu(torch.ones(2)) - 3)
    debugger.save(torch.ones(2), "scale")
    debugger.step()
    dump = loaded(directory / "overflow", 0, "dump")
    assert list(dump["data"]) == ["Torch.sqrt.0.forward"]
    assert dump["checked"] > 1
    assert list(loaded(directory / "overflow", 0, "debug")["data"]) == ["scale.0.debug", "scale_grad.0.debug"]


def main():
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        check_training(directory)
        check_checkpoint(directory)
        check_overflow(directory)
        pairs = [compare(directory, "statistics", "mix", "md5")]
        compare(directory, "statistics", "L0", "statistics")
        compare(directory, "structure", "mix", "statistics")
        pairs.append(compare(directory, "tensor", "L1", "statistics"))
        both_ways = [pair for theirs, ours in pairs for pair in ((theirs, ours), (ours, theirs))]
        with ThreadPoolExecutor(2) as processes:
            for report in processes.map(lambda pair: compare_by_msprobe(directory, *pair), both_ways):
                print(report)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        record(*sys.argv[1:])
    else:
        main()

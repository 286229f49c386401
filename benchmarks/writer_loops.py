"""One writer, measured in a process of its own. Run by writer.py: writer, directory, ``first`` or ``loops``.

Prints a JSON object of figures. CPU times are those of the thread that calls, unless said otherwise.
"""

import json
import resource
import statistics
import sys
import time
from pathlib import Path

SCALAR_STEPS = 20_000
ARRAY_STEPS = 25
PAUSE = 0.05  # seconds a training step takes besides; the writer may work meanwhile
TAGS = [f"metrics/{name}" for name in "abcdefghij"]


class Ours:
    def __init__(self, directory):
        from mindinsight.writer import SummaryRecord

        self.record = SummaryRecord(directory)

    def number(self, value):
        return value

    def array(self, values):
        return values

    def scalars(self, step, values):
        for tag, value in values.items():
            self.record.add_value("scalar", tag, value)
        self.record.record(step)

    def histogram(self, step, values):
        self.record.add_value("histogram", "weights", values)
        self.record.record(step)

    def image(self, step, batch):
        self.record.add_value("image", "picture", batch)
        self.record.record(step)

    def tensor(self, step, values):
        self.record.add_value("tensor", "features", values)
        self.record.record(step)

    def close(self):
        self.record.close()


class MindSpore(Ours):
    def __init__(self, directory):
        import mindspore

        self.framework = mindspore
        self.record = mindspore.SummaryRecord(directory, num_process=2)

    def number(self, value):
        return self.framework.Tensor(value, self.framework.float32)

    def array(self, values):
        return self.framework.Tensor(values)


class TensorBoard:
    def __init__(self, directory):
        if sys.argv[1] == "torch":
            from torch.utils.tensorboard import SummaryWriter
        else:
            from tensorboardX import SummaryWriter
        self.writer = SummaryWriter(directory)
        if not hasattr(self.writer, "add_tensor"):
            self.tensor = None  # type: ignore[assignment, method-assign]

    def number(self, value):
        return value

    def array(self, values):
        if sys.argv[1] == "torch":
            import torch

            return torch.from_numpy(values)
        return values

    def scalars(self, step, values):
        for tag, value in values.items():
            self.writer.add_scalar(tag, value, step)

    def histogram(self, step, values):
        self.writer.add_histogram("weights", values, step)

    def image(self, step, batch):
        self.writer.add_images("picture", batch, step)

    def tensor(self, step, values):
        self.writer.add_tensor("features", values, step)

    def close(self):
        self.writer.close()


WRITERS = {"ours": Ours, "mindspore": MindSpore, "torch": TensorBoard, "tensorboardX": TensorBoard}


def cpu_of_all():
    """CPU seconds of every thread, and of child processes that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def size_of(directory):
    return sum(path.stat().st_size for path in Path(directory).rglob("*") if path.is_file())


def scalars(writer_class, directory, tags):
    """Thread and whole CPU in microseconds and bytes, all per value; wall of slow calls in microseconds."""
    writer = writer_class(directory)
    values = dict.fromkeys(tags, writer.number(0.123))
    writer.scalars(0, values)
    everything, started, walls = cpu_of_all(), time.thread_time(), []
    for step in range(1, SCALAR_STEPS + 1):
        before = time.perf_counter()
        writer.scalars(step, values)
        walls.append(time.perf_counter() - before)
    thread = time.thread_time() - started
    writer.close()
    points = SCALAR_STEPS * len(tags)
    return {
        "thread": thread / points * 1e6,
        "all": (cpu_of_all() - everything) / points * 1e6,
        "slow": statistics.quantiles(walls, n=1000)[-1] * 1e6,
        "bytes": size_of(directory) / points,
    }


def arrays(writer_class, directory, kind, values):
    """Median thread CPU in milliseconds of handing over ``values`` at the pace of a training."""
    writer = writer_class(directory)
    add = getattr(writer, kind)
    if add is None:
        return None
    given, times = writer.array(values), []
    for step in range(ARRAY_STEPS):
        started = time.thread_time()
        add(step, given)
        times.append(time.thread_time() - started)
        time.sleep(PAUSE)
    writer.close()
    return statistics.median(times) * 1e3


def first_record(writer_class, directory):
    """CPU seconds of a process that imports the writer and records one scalar."""
    writer = writer_class(directory)
    writer.scalars(1, {"loss": writer.number(0.5)})
    return time.process_time()


def main(name, directory, what):
    writer_class, folder = WRITERS[name], lambda part: str(Path(directory) / part)
    if what == "first":
        return {"first": first_record(writer_class, folder("first"))}
    import numpy as np

    random = np.random.default_rng(0)
    picture = np.linspace(0, 255, 3 * 256 * 256).reshape(1, 3, 256, 256)
    picture = (picture + random.normal(0, 8, picture.shape)).clip(0, 255).astype(np.uint8)
    return {
        "one": scalars(writer_class, folder("one"), TAGS[:1]),
        "ten": scalars(writer_class, folder("ten"), TAGS),
        "histogram": arrays(writer_class, folder("h"), "histogram", random.normal(size=10**6).astype("f4")),
        "image": arrays(writer_class, folder("i"), "image", picture),
        "tensor": arrays(writer_class, folder("t"), "tensor", random.normal(size=1 << 18).astype("f4")),
    }


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))

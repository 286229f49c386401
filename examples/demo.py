"""A few small trainings that record every kind of value.

    python demo.py --out runs
    mindinsight start --summary-base-dir runs

It leaves two runs that differ in their learning rate, a job of four ranks, and a dump in which the loss
of a network goes NaN. With --live the two runs go on for as long as you let them.
"""

import argparse
import itertools
import math
import multiprocessing
import time
from pathlib import Path

import demo_one_thread  # noqa: F401 - before NumPy
import numpy as np
from demo_landscape import landscape
from demo_network import SHAPES, SIDE, ShapeNet, Tape, pictures

from mindinsight.writer import Accuracy, Dump, SummaryRecord, program_facts

STEPS = 1500
RANKS = 4
BATCH = 64
GOOD = 0.9  # share of the test pictures
PIPELINE = {
    "op_type": "Batch",
    "batch_size": BATCH,
    "drop_remainder": True,
    "children": [
        {
            "op_type": "Map",
            "input_columns": ["image"],
            "operations": [
                {"tensor_op_name": "RandomNoise", "deviation": 0.4},
                {"tensor_op_name": "Resize", "tensor_op_params": [SIDE, SIDE]},
            ],
            "children": [{"op_type": "Shuffle", "buffer_size": 1000, "children": [{"op_type": "Shapes"}]}],
        }
    ],
}


class Training:
    """One network in training, and what is recorded of it."""

    def __init__(self, name, directory, learning_rate, rank=None, noise=0.4):
        self.name = name
        self.network = ShapeNet(seed=1)
        self.learning_rate = learning_rate
        self.noise = noise
        self.rng = np.random.default_rng(rank or 0)
        self.test_set = pictures(np.random.default_rng(99), 512)
        self.record = SummaryRecord(directory, rank=rank)
        if not rank:
            self.record.add_value("code", "code", program_facts(), step=0)
        self.step = 0
        self.path = []

    def advance(self, rate):
        """Take one step and record it."""
        self.step += 1
        images, labels = pictures(self.rng, BATCH, self.noise)
        tape = Tape()
        known = {"images": images, "labels": labels, **self.network.weights}
        loss, chances, gradients = self.network.gradients(images, labels, tape)
        self.network.update(gradients, rate, tape)
        accuracy = (chances.argmax(axis=1) == labels).mean()
        for tag, value in ("train/loss", loss), ("train/accuracy", accuracy), ("lr", rate):
            self.record.add_value("scalar", tag, value)
        if self.step == 1:
            self.record.add_value("graph", "network", tape.graph(known))
        if self.step % 25 == 1:
            self.record_weights(gradients)
        if self.step % 100 == 1:
            self.record.add_value("image", "train/input", images[:16])
            self.record_evaluation()
            self.path.append((self.step, dict(self.network.weights)))
        self.record.record(self.step)
        return loss

    def record_weights(self, gradients):
        for name, gradient in gradients.items():
            self.record.add_value("histogram", name, self.network.weights[name])
            self.record.add_value("histogram", f"{name}/gradient", gradient)

    def record_evaluation(self):
        """Scalars, the confusion of shapes as a tensor, and the first layer as pictures."""
        images, labels = self.test_set
        chances, _ = self.network.forward(images, Tape())
        confusion = np.zeros((len(SHAPES), len(SHAPES)), np.int32)
        np.add.at(confusion, (labels, chances.argmax(axis=1)), 1)
        first_layer = self.network.weights["fc1.weight"].T.reshape(-1, 1, SIDE, SIDE)
        accuracy = Accuracy()(chances, labels)
        if accuracy > GOOD:  # said once: the same alert is not recorded again for a minute
            self.record.alert(f"more than {GOOD:.0%} of the test pictures are right", step=self.step)
        self.record.add_value("scalar", "eval/accuracy", accuracy)
        self.record.add_value("scalar", "eval/loss", self.test_loss())
        self.record.add_value("tensor", "eval/confusion", confusion)
        self.record.add_value("tensor", "head.weight", self.network.weights["head.weight"])
        self.record.add_value("image", "fc1.weight", first_layer)

    def test_loss(self):
        return self.network.loss_at(self.network.weights, *self.test_set)

    def finish(self, loss):
        """Record what the run was trained with and what came out; keep the recorder open."""
        images, labels = self.test_set
        self.path.append((self.step, dict(self.network.weights)))
        plane = landscape(self.network, self.path, images, labels)
        self.record.add_value("landscape", f"landscape_[1, {self.step}]", plane)
        trained = {
            "network": "ShapeNet",
            "optimizer": "SGD",
            "learning_rate": self.learning_rate,
            "loss_function": "CrossEntropy",
            "loss": loss,
            "epoch": self.step // 100,
            "batch_size": BATCH,
            "train_dataset_size": self.step * BATCH,
        }
        chances, _ = self.network.forward(images, Tape())
        metrics = {"accuracy": Accuracy()(chances, labels), "loss": self.test_loss()}
        evaluated = {"metrics": metrics, "valid_dataset_size": len(labels)}
        notes = {"noise": self.noise, "hidden": "32-16", "seed": 1}
        self.record.add_value("train_lineage", "lineage", trained)
        self.record.add_value("eval_lineage", "lineage", evaluated)
        self.record.add_value("dataset_graph", "pipeline", PIPELINE)
        self.record.add_value("custom_lineage_data", "notes", notes)
        self.record.record(0)
        self.record.flush()
        print(f"{self.name}: done, accuracy {metrics['accuracy']:.2f}", flush=True)


def rate_at(step, steps, first):
    """The learning rate falls along half a cosine to a twentieth of the first."""
    return max(first * 0.5 * (1 + math.cos(math.pi * min(step / steps, 1))), first / 20)


def train(training, steps):
    for step in range(steps):
        loss = training.advance(rate_at(step, steps, training.learning_rate))
        if training.step % 500 == 0:
            print(f"{training.name}: step {training.step} of {steps}, loss {loss:.3f}", flush=True)
    training.finish(loss)


def train_rank(directory, rank, steps):
    """One process of the job; the last rank has been given worse pictures than the others."""
    noise = 0.9 if rank == RANKS - 1 else 0.4
    training = Training(f"rank {rank}", directory, 0.05, rank, noise)
    training.record.record_console()
    training.record.record_system(1.0)
    train(training, steps)
    training.record.close()


def train_ranks(directory, steps):
    processes = multiprocessing.get_context("spawn")
    workers = [processes.Process(target=train_rank, args=(directory, rank, steps)) for rank in range(RANKS)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if any(worker.exitcode for worker in workers):
        raise SystemExit("a rank failed")


def dump_failure(directory, weights):
    """Train on with a rate that grows tenfold a step, until an exponential overflows, and dump that."""
    network, rng = ShapeNet(seed=1), np.random.default_rng(5)
    network.weights = dict(weights)
    dump = None
    for number in range(7):
        images, labels = pictures(rng, 8)
        tape, known = Tape(), dict(network.weights)
        loss, _, gradients = network.gradients(images, labels, tape)
        network.update(gradients, 0.1 * 10 ** max(0, number - 1), tape)
        if dump is None:
            graph = tape.graph({"images": images, "labels": labels, **known})
            dump = Dump(directory, "ShapeNet", graph=graph)
        step = dump.iteration(number)
        for operation in tape:
            for slot, value in enumerate(operation.inputs):
                step.input(operation.name, value, slot)
            step.output(operation.name, operation.output)
        for name, weight in network.weights.items():
            step.parameter(name, weight)
        print(f"dump: iteration {number}, loss {loss:.3f}", flush=True)


def stay_live(trainings):
    """Record a step of each run twice a second."""
    print("the runs go on; press Ctrl-C to end them", flush=True)
    for _ in itertools.count():
        for training in trainings:
            training.advance(training.learning_rate / 20)
            training.record.flush()
        time.sleep(0.5)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--out", type=Path, required=True, help="directory for the runs")
    options.add_argument("--live", action="store_true", help="keep adding points until interrupted")
    options.add_argument("--steps", type=int, default=STEPS, help="steps of each run")
    chosen = options.parse_args()
    trainings = [Training(f"lr_{rate}", chosen.out / f"lr_{rate}", rate) for rate in (0.1, 0.01)]
    for training in trainings:
        train(training, chosen.steps)
    train_ranks(chosen.out / "ranks", chosen.steps // 3)
    dump_failure(chosen.out / "lr_0.1" / "dump", trainings[0].network.weights)
    try:
        if chosen.live:
            stay_live(trainings)
    except KeyboardInterrupt:
        print("ended")
    finally:
        for training in trainings:
            training.record.close()


if __name__ == "__main__":
    main()

"""Our loggers inside real Lightning, Transformers, Accelerate, Keras (torch and JAX) and Ignite.

Runs the examples and reads what they wrote; then what examples do not show: NaN, failures, ranks, options.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import reading
import torch

from mindinsight.proto.summary_pb2 import Event

EXAMPLES = Path(__file__).parents[2] / "examples"
DOCUMENT = Path(__file__).parents[2] / "docs" / "integrations.md"
HEAD = (
    "| | network | optimizer | learning rate | loss function | loss | epochs | batch size | data set "
    "| results |\n"
)
GIVEN = {}  # framework -> a cell of the table for each fact of lineage


def note_facts(framework, directory):
    """Keep which facts of a lineage row an example got without asking for them."""
    known = lineage(directory)
    train = known["train_lineage"]
    settings, algorithm = train.hyper_parameters, train.algorithm
    evaluated = "evaluation_lineage" in known and known["evaluation_lineage"].metric not in ("", "{}")
    facts = [
        algorithm.network,
        settings.optimizer,
        settings.learning_rate,
        settings.loss_function,
        algorithm.HasField("loss"),
        settings.epoch,
        settings.batch_size,
        train.train_dataset.train_dataset_size,
        evaluated,
    ]
    GIVEN[framework] = ["yes" if fact else "–" for fact in facts]


def table():
    rows = [f"| {name} | {' | '.join(facts)} |\n" for name, facts in GIVEN.items()]
    return HEAD + "|---" * (len(HEAD.split("|")) - 2) + "|\n" + "".join(rows)


def run(name, directory, **environment):
    command = [sys.executable, EXAMPLES / f"{name}_train.py", "--out", directory]
    ran = subprocess.run(
        command,
        env={**os.environ, **environment},
        cwd=directory.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]


def tags(directory, kind):
    """The tags of a kind, without those of the machine."""
    values = [value for _, value in reading.values(directory) if value.WhichOneof("value") == kind]
    return {value.tag for value in values if not value.tag.startswith("system/")}


def lineage(directory):
    """The last message of each kind."""
    return dict(reading.lineage(directory))


def settings(directory):
    options = {}
    for entry in lineage(directory)["user_defined_info"].user_info:
        for kind in ("map_int32", "map_double", "map_str"):
            options.update(getattr(entry, kind))
    return options


def metrics(directory):
    return json.loads(lineage(directory)["evaluation_lineage"].metric)


def messages(directory, field):
    events = reading.events(directory, "_MS", Event)
    return [getattr(event, field) for event in events if event.HasField(field)]


def check_lightning(base):
    run("lightning", base / "runs")
    directory = base / "runs/lightning/version_0"
    assert tags(directory, "scalar_value") >= {"train/loss", "epoch", "learning_rate/Adam_0/group_0"}
    assert tags(directory, "histogram") == {
        "layer.weight",
        "layer.bias",
        "layer.weight/gradient",
        "layer.bias/gradient",
    }
    assert settings(directory)["lr"] == 0.05
    train = lineage(directory)["train_lineage"]
    hyper = train.hyper_parameters
    assert (hyper.optimizer, hyper.epoch, train.algorithm.network) == ("Adam", 4, "Line")
    assert (hyper.batch_size, train.train_dataset.train_dataset_size) == (16, 256)
    assert 0 < train.algorithm.loss < 100
    assert hyper.loss_function == "MSELoss"
    assert metrics(directory).keys() == {"loss"}
    note_facts("Lightning with `MindInsightCallback`", directory)
    assert Path(json.loads(train.model.path)["ckpt"]).is_file() and train.model.size > 0
    assert [closing.error for closing in messages(directory, "closing")] == [""]


def lightning_module(last):
    import lightning as pl

    class Module(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(2, 1)
            self.example_input_array = torch.zeros(1, 2)

        def forward(self, x):
            return self.layer(x)

        def training_step(self, batch, index):
            loss = self(batch).sum() * (float("nan") if index == 2 else 1.0)
            self.log("loss", loss)
            self.logger.experiment.add_image("noise", torch.rand(3, 4, 4), index)
            if index == last:
                raise RuntimeError("out of memory")
            return loss

        def validation_step(self, batch, index):
            self.log("val/loss", self(batch).abs().mean())

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)

    return Module()


def check_lightning_failures(base):
    import lightning as pl
    from lightning.pytorch.utilities import rank_zero_only

    from mindinsight.writer.integrations.lightning import MindInsightLogger

    loader = torch.utils.data.DataLoader(torch.ones(6, 2))
    logger = MindInsightLogger(base / "bad", "", "broken", log_graph=True, prefix="a")
    trainer = pl.Trainer(
        logger=logger,
        max_epochs=1,
        log_every_n_steps=1,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    try:
        trainer.fit(lightning_module(4), loader)
    except RuntimeError:
        pass
    else:
        raise AssertionError("the error of the training is the training's")
    directory = base / "bad/broken"
    assert [alert.title for alert in messages(directory, "alert")] == ["a/loss is nan"]
    assert [closing.error for closing in messages(directory, "closing")] == ["RuntimeError: out of memory"]
    assert reading.graphs(directory) and tags(directory, "image") == {"noise"}

    good = MindInsightLogger(base / "bad", "good")
    trainer = pl.Trainer(logger=good, max_epochs=1, enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(lightning_module(99), loader, loader)
    trainer.validate(lightning_module(99), loader, verbose=False)
    assert "val/loss" in tags(base / "bad/good/version_0", "scalar_value")
    assert MindInsightLogger(base / "bad", "good").version == 1

    rank_zero_only.rank = 1
    silent = MindInsightLogger(base / "ranks", "", "job")
    silent.log_metrics({"loss": 1.0}, 1)
    silent.experiment.add_scalar("loss", 1.0, 1)
    silent.finalize("success")
    assert not (base / "ranks").exists()
    os.environ.update(RANK="1", WORLD_SIZE="2")
    loud = MindInsightLogger(base / "ranks", "", "job", every_rank=True)
    loud.log_metrics({"loss": 1.0}, 1)
    loud.finalize("success")
    assert tags(base / "ranks/job/rank_1", "scalar_value") == {"loss"}
    del os.environ["RANK"], os.environ["WORLD_SIZE"]
    rank_zero_only.rank = 0


def check_lightning_resumed(base):
    """A run from the checkpoint of another names it and the step it went to."""
    import lightning as pl

    from mindinsight.writer.integrations.lightning import MindInsightCallback, MindInsightLogger

    loader = torch.utils.data.DataLoader(torch.zeros(8, 2), batch_size=2)
    for epochs, path in ((1, None), (2, base / "resumed/lightning/version_0/last.ckpt")):
        logger = MindInsightLogger(base / "resumed", also=())
        trainer = pl.Trainer(
            max_epochs=epochs, logger=logger, callbacks=[MindInsightCallback()],
            accelerator="cpu", enable_progress_bar=False, enable_checkpointing=False, log_every_n_steps=1,
        )  # fmt: skip
        trainer.fit(lightning_module(99), loader, ckpt_path=path)
        trainer.save_checkpoint(Path(logger.log_dir) / "last.ckpt")
    assert settings(base / "resumed/lightning/version_1")["parent_run"] == "version_0@3"
    assert "user_defined_info" not in lineage(base / "resumed/lightning/version_0")


def check_pytorch_lightning(base):
    """The same logger for the package's older name, in a process that loads that one alone."""
    code = (
        "import pytorch_lightning as pl\n"
        "from mindinsight.writer.integrations.lightning import MindInsightLogger, Logger\n"
        "assert issubclass(MindInsightLogger, pl.loggers.Logger), Logger\n"
        f"logger = MindInsightLogger({str(base / 'old')!r})\n"
        "pl.Trainer(logger=logger).logger.log_metrics({'loss': 1.0}, 1)\n"
        "logger.finalize('success')\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, cwd=base)
    assert tags(base / "old/lightning/version_0", "scalar_value") == {"loss"}


def check_transformers(base):
    directory = base / "transformers"
    run("transformers", directory)
    scalars = tags(directory, "scalar_value")
    assert scalars >= {"train/loss", "train/learning_rate", "train/grad_norm", "eval/loss"}, scalars
    histograms = tags(directory, "histogram")
    assert "classifier.weight" in histograms and "classifier.weight/gradient" in histograms
    assert settings(directory)["model.hidden_size"] == 16
    assert settings(directory)["arguments.logging_steps"] == 4
    train = lineage(directory)["train_lineage"]
    assert train.algorithm.network == "BertForSequenceClassification"
    assert train.hyper_parameters.batch_size == 8 and train.algorithm.loss > 0
    assert Path(json.loads(train.model.path)["ckpt"]).name == "checkpoint-32" and train.model.size > 1000
    assert train.hyper_parameters.optimizer == "AdamW"
    assert set(metrics(directory)) == {"loss"}
    assert train.train_dataset.train_dataset_size > 0
    note_facts("Transformers", directory)
    assert [closing.error for closing in messages(directory, "closing")] == [""]


def check_accelerate(base):
    run("accelerate", base / "runs")
    directory = base / "runs/accelerate"
    assert tags(directory, "scalar_value") == {"train/loss", "learning_rate"}
    assert tags(directory, "histogram") == {"weight"}
    assert settings(directory) == {"lr": 0.05, "batch_size": 16}
    assert reading.steps(directory)["train/loss"] == list(range(32))
    assert lineage(directory)["train_lineage"].algorithm.loss > 0
    note_facts("Accelerate, of what is logged and configured", directory)

    from mindinsight.writer.integrations.accelerate import MindInsightTracker

    tracker = MindInsightTracker("run", base / "tracked")
    tracker.log({"loss": 1.0, "note": "begun", "inner": {"a": 2}})
    tracker.log({"loss": float("inf")})
    tracker.log_images({"i": np.zeros((2, 4, 4, 3))}, step=7)
    tracker.finish()
    assert reading.steps(base / "tracked/run")["loss"] == [1, 2]
    assert "inner/a" in tags(base / "tracked/run", "scalar_value")
    assert [alert.title for alert in messages(base / "tracked/run", "alert")] == ["loss is inf"]


def check_keras(base):
    for backend in ("torch", "jax"):
        directory = base / f"keras-{backend}"
        run("keras", directory, KERAS_BACKEND=backend)
        scalars = tags(directory, "scalar_value")
        assert scalars >= {"batch/loss", "train/loss", "validation/mae", "learning_rate"}, scalars
        histograms = tags(directory, "histogram")
        assert any(name.endswith("/gradient") for name in histograms) == (backend == "torch"), histograms
        assert any(name.endswith("kernel") for name in histograms)
        train = lineage(directory)["train_lineage"]
        assert (train.hyper_parameters.optimizer, train.hyper_parameters.loss_function) == ("Adam", "mse")
        assert "loss" in metrics(directory)
        note_facts("Keras", directory)
        assert settings(directory)["optimizer.beta_1"] == 0.9
        histogram = [
            value
            for step, value in reading.values(directory)
            if value.tag.endswith("kernel") and step in (0, 3)
        ]
        assert histogram[0] != histogram[-1], "weights are those of their epoch"


def check_ignite(base):
    directory = base / "ignite"
    run("ignite", directory)
    assert tags(directory, "scalar_value") == {"train/loss", "lr/group_0", "eval/mse"}
    assert tags(directory, "histogram") == {"weight", "bias", "weight/gradient", "bias/gradient"}
    assert reading.steps(directory)["eval/mse"] == [1, 2, 3, 4]
    train = lineage(directory)["train_lineage"]
    hyper = train.hyper_parameters
    assert (hyper.batch_size, hyper.epoch, hyper.optimizer) == (16, 4, "SGD")
    assert (train.algorithm.network, train.train_dataset.train_dataset_size) == ("Linear", 256)
    assert abs(hyper.learning_rate - 0.05) < 1e-6
    assert train.algorithm.loss > 0
    assert "mse" in metrics(directory)
    note_facts("Ignite, of what is attached", directory)


def check_tensorboard_loggers_take_our_writer(base):
    """Callbacks that were written for TensorBoard's writer, given ours."""
    from transformers.integrations import TensorBoardCallback

    from mindinsight.writer import SummaryWriter

    callback = TensorBoardCallback(SummaryWriter(base / "given"))
    callback.tb_writer.add_scalar("loss", 1.0, 1)
    callback.on_train_end(None, None, None)
    assert tags(base / "given", "scalar_value") == {"loss"}


CHECKS = [
    check_lightning,
    check_lightning_failures,
    check_lightning_resumed,
    check_pytorch_lightning,
    check_transformers,
    check_accelerate,
    check_keras,
    check_ignite,
    check_tensorboard_loggers_take_our_writer,
]

if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--document"]
    for check in CHECKS:
        if not words or any(word in check.__name__ for word in words):
            with tempfile.TemporaryDirectory() as folder:
                check(Path(folder))
            print(f"{check.__name__.removeprefix('check_').replace('_', ' ')}: ok", flush=True)
    if not words:
        text = DOCUMENT.read_text(encoding="utf-8")
        before, head, after = text.partition(HEAD)
        assert head, "the table of lineage is not in docs/integrations.md"
        rest = after[after.index("\n\n") :]
        if "--document" in sys.argv:
            DOCUMENT.write_text(f"{before}{table().rstrip()}{rest}", encoding="utf-8")
        assert "--document" in sys.argv or text == f"{before}{table().rstrip()}{rest}", table()

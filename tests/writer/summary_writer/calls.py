"""The calls whose files must read equal, whether torch's SummaryWriter made them or ours.

Used by the tests here and, beside the real writer, by tests/interop/summary_writer_in_torch.py.
"""

from typing import Any

import numpy as np

WALL = 1_700_000_000.0


def calls(writer: Any, array: Any) -> None:
    """Every method that both writers have, with equal arguments; ``array`` makes an array of a framework."""
    random = np.random.default_rng(7)
    record_scalars(writer, array)
    record_histograms(writer, array, random)
    record_pictures(writer, array, random)
    record_plots(writer, array, random)
    writer.add_hparams(
        {"lr": 0.1, "layers": 3, "name": "small"},
        {"accuracy": 0.75},
        hparam_domain_discrete={"name": ["small", "large"]},
        run_name="trial",
        global_step=5,
    )


def record_scalars(writer: Any, array: Any) -> None:
    for step in range(3):
        writer.add_scalar("loss", 1 / (step + 1), step, walltime=WALL + step)
    writer.add_scalar("of an array", array(np.array([0.25], np.float32)), 1, walltime=WALL)
    writer.add_scalar("without a step", 2, walltime=WALL)
    writer.add_scalar("negative step", 2.5, -3, walltime=WALL)
    for step, number in enumerate((float("nan"), float("inf"), -float("inf"), 1e300, 1e-300)):
        writer.add_scalar("odd", number, step, walltime=WALL)
    writer.add_scalar("new", 0.1, 2, walltime=WALL, new_style=True)
    writer.add_scalar("new double", 0.1, 2, walltime=WALL, new_style=True, double_precision=True)
    writer.add_scalars("groups/acc", {"train": 0.5, "test": 0.25}, 4, walltime=WALL)
    writer.add_text("notes", "**bold** über 注意", 3, walltime=WALL)


def record_histograms(writer: Any, array: Any, random: Any) -> None:
    normal = random.normal(size=(40, 25)).astype(np.float32)
    writer.add_histogram("normal", array(normal), 1, walltime=WALL)
    writer.add_histogram("ten", array(normal), 1, bins=10, walltime=WALL)
    writer.add_histogram("edges", array(normal), 1, bins=[-1.0, 0.0, 0.5], walltime=WALL)
    writer.add_histogram("auto", array(normal), 1, bins="auto", walltime=WALL)
    writer.add_histogram("few", array(normal), 1, max_bins=20, walltime=WALL)
    writer.add_histogram("with nan", array(np.array([1.0, np.nan, 2.0])), 1, walltime=WALL)
    writer.add_histogram("zeros", array(np.zeros(5)), 1, walltime=WALL)
    writer.add_histogram("integers", array(np.arange(-5, 20)), 1, walltime=WALL)
    writer.add_histogram_raw("raw", 0.0, 3.0, 4, 6.0, 14.0, [1.0, 2.0, 3.0], [1, 2, 1], 2, walltime=WALL)


def record_pictures(writer: Any, array: Any, random: Any) -> None:
    colours = random.random((3, 6, 9)).astype(np.float32)
    writer.add_image("colours", array(colours), 1, walltime=WALL)
    writer.add_image("beyond", array(colours * 3 - 1), 1, walltime=WALL)
    writer.add_image("rows", array(colours.transpose(1, 2, 0).copy()), 1, walltime=WALL, dataformats="HWC")
    writer.add_image("gray", array(colours[0]), 1, walltime=WALL, dataformats="HW")
    writer.add_image("alpha", array(random.random((4, 5, 5))), 1, walltime=WALL)
    writer.add_image("bytes", array(random.integers(0, 255, (3, 4, 4), np.uint8)), 1, walltime=WALL)
    writer.add_images("batch", array(random.random((11, 3, 4, 5))), 1, walltime=WALL)
    writer.add_images("gray batch", array(random.random((3, 1, 4, 5))), 1, walltime=WALL)
    boxes = np.array([[1.0, 1.0, 6.0, 4.0], [2.0, 2.0, 8.0, 5.0]])
    writer.add_image_with_boxes("boxes", array(colours), array(boxes), 1, walltime=WALL)
    sound = np.sin(np.arange(200) / 7).astype(np.float32) * 1.2
    writer.add_audio("sound", array(sound), 1, sample_rate=8000, walltime=WALL)


def record_plots(writer: Any, array: Any, random: Any) -> None:
    labels, predictions = random.integers(0, 2, 60), random.random(60).astype(np.float32)
    writer.add_pr_curve("pr", array(labels), array(predictions), 1, walltime=WALL)
    writer.add_pr_curve("pr few", array(labels), array(predictions), 1, num_thresholds=9, walltime=WALL)
    writer.add_pr_curve("pr weights", labels, predictions, 1, 9, np.linspace(0.5, 2, 60), walltime=WALL)
    rows = [np.array([3.0, 2.0]), np.array([4.0, 1.0]), np.array([0.0, 3.0]), np.array([0.0, 1.0])]
    rates = [np.array([0.4, 0.6]), np.array([1.0, 0.6])]
    writer.add_pr_curve_raw("pr raw", *rows, *rates, 1, num_thresholds=2, walltime=WALL)
    writer.add_custom_scalars(
        {"Losses": {"both": ["Multiline", ["loss", "odd"]], "margin": ["Margin", ["loss", "a", "b"]]}}
    )


def record_tensors(writer: Any, array: Any) -> None:
    """Apart, as torch takes its own tensors only."""
    for code in ("f4", "f8", "i4", "i8", "i2", "i1", "?"):
        values = np.arange(-3, 3).reshape(2, 3).astype(code)
        writer.add_tensor(f"tensor {code}", array(values), 1, walltime=WALL)

"""Each module with behaviour is tested by a module at the mirrored path, or an argued place instead.

``server/mindinsight/server/a/b.py`` is tested by ``tests/server/a/test_b.py``, or by the modules of a folder
``tests/server/a/b/``. ``ELSEWHERE`` names what is tested together with something else, and why.
"""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = {
    "server": ROOT / "server" / "mindinsight" / "server",
    "writer": ROOT / "writer" / "mindinsight" / "writer",
    "proto": ROOT / "proto" / "mindinsight" / "proto",
}
LINES = 40  # up to which a module may be tested with what uses it

_EVENTS = "server/formats/events/test_mixtures.py"  # all decoders against protobuf, on any mixture of records
_ACCUMULATOR = "server/formats/tensorboard/test_accumulator.py"  # the converter against TensorBoard's
_PROBE = "writer/precision_debugger"  # the debugger as one, on a stand-in for PyTorch
_CALLS = "writer/summary_writer"  # every call of SummaryWriter against what TensorBoard's writer records
_TUNER = "server/tuning/test_tuner.py"  # whole studies, compared with Optuna's

ELSEWHERE = {
    # Assembled from what has tests of its own, and seen in every answer.
    "server/api/run_answers": "server/api/test_runs.py",
    "server/api/v1/__init__": "server/api/v1/test_openapi.py",
    "server/api/v2": "server/test_app.py",
    "server/client/dump_results": "server/client/test_dump_reader.py",
    # The command is run as a process.
    "server/commands/tune/__init__": _TUNER,
    "server/commands/tune/study_run": _TUNER,
    # Shown by the results of the one that uses it.
    "server/debug/explanation/grown_weight": "server/debug/explanation/test_fault_explanation.py",
    # Decoders of one format, compared with another reader of the whole file.
    "server/formats/dumps/__init__": "server/formats/dumps/test_samples.py",
    "server/formats/events/__init__": _EVENTS,
    "server/formats/events/blocks": _EVENTS,
    "server/formats/events/chunk": _EVENTS,
    "server/formats/events/columnar": _EVENTS,
    "server/formats/events/event_message": _EVENTS,
    "server/formats/events/sequential": _EVENTS,
    "server/formats/events/shapes": _EVENTS,
    "server/formats/tensorboard/transcoder": _ACCUMULATOR,
    "server/formats/tensorboard/values": _ACCUMULATOR,
    # The description of the interface is checked as it is served.
    "server/http/openapi": "server/api/v1/test_openapi.py",
    # A report is looked at as a whole.
    "server/report/content": "server/report/test_report.py",
    "server/report/faults": "server/report/test_report.py",
    # Parts of a study: each is seen in the trials, which are those of Optuna.
    "server/tuning/gaussian_process": "server/tuning/test_samplers.py",
    "server/tuning/journal": "server/plugins/test_tuning.py",
    "server/tuning/study": "server/tuning/test_facts.py",
    "server/tuning/trial_process": _TUNER,
    # Declarations, and names that are only handed on.
    "server/types": "server/store",
    "writer/__init__": "test_imports.py",
    # Adapters to frameworks: stand-ins in the tests named, the real ones in tests/interop.
    "writer/capture/mindspore/backward_nodes": "server/debug/test_recorded_mindspore.py",
    "writer/capture/mindspore/operators": "server/debug/test_recorded_mindspore.py",
    "writer/capture/mindspore/values": "server/debug/test_recorded_mindspore.py",
    "writer/capture/pytorch/norms": "interop/tensor_kinds_in_torch.py",
    "writer/capture/pytorch/operators": "writer/capture/test_dump_recorder.py",
    "writer/capture/pytorch/tensors": "interop/tensor_kinds_in_torch.py",
    "writer/capture/pytorch/training": "writer/capture/test_flight_recorder.py",
    "writer/encoding/encoder": "writer/test_pending.py",
    "writer/frameworks/jax_graph": "writer/frameworks/test_frameworks.py",
    "writer/frameworks/mindspore_objects": "writer/frameworks/test_frameworks.py",
    "writer/frameworks/torch": "writer/frameworks/test_frameworks.py",
    "writer/frameworks/torch_graph": "writer/frameworks/test_frameworks.py",
    "writer/frameworks/torch_objects": "writer/frameworks/test_frameworks.py",
    "writer/integrations/ignite": "writer/integrations/test_training.py",
    "writer/integrations/keras": "writer/integrations/test_training.py",
    "writer/integrations/lightning": "writer/integrations/test_training.py",
    "writer/precision_debugger/draft": _PROBE,
    "writer/precision_debugger/mindspore/cells": _PROBE,
    "writer/precision_debugger/mindspore/probe": _PROBE,
    "writer/precision_debugger/mindspore/values": _PROBE,
    "writer/precision_debugger/pytorch/module_backward": _PROBE,
    "writer/precision_debugger/saved_variables": _PROBE,
    "writer/precision_debugger/pytorch/modules": _PROBE,
    "writer/precision_debugger/pytorch/names": _PROBE,
    "writer/precision_debugger/pytorch/probe": _PROBE,
    "writer/precision_debugger/pytorch/values": _PROBE,
    "writer/summary_writer/media": _CALLS,
    "writer/summary_writer/plots": _CALLS,
    "writer/summary_writer/run_files": _CALLS,
    "writer/summary_writer/target": _CALLS,
    "writer/summary_writer/tensorboard_files": _CALLS,
}


def modules() -> list[str]:
    """Modules as ``server/a/b``, a package's own code as ``server/a/__init__``."""
    return [
        f"{area}/{path.relative_to(folder).with_suffix('')}"
        for area, folder in PACKAGES.items()
        for path in sorted(folder.rglob("*.py"))
        if not path.stem.endswith("_pb2") and len(path.read_text(encoding="utf-8").splitlines()) > LINES
    ]


def twins(module: str) -> list[Path]:
    """Where the tests of a module are looked for."""
    package, _, name = module.rpartition("/")
    folder = ROOT / "tests" / package
    if name == "__init__":
        return [folder / f"test_{folder.name}.py", folder.parent / f"test_{folder.name}.py"]
    return [folder / f"test_{name}.py"]


@pytest.mark.parametrize("module", modules())
def test_a_module_has_its_tests(module: str) -> None:
    tests = [path for path in twins(module) if path.exists()]
    if module in ELSEWHERE:
        assert not tests, f"{module} has a twin by now: take it from ELSEWHERE"
    else:
        assert tests, f"write {twins(module)[0].relative_to(ROOT)}"


@pytest.mark.parametrize(("module", "tests"), ELSEWHERE.items())
def test_tests_elsewhere_are_there(module: str, tests: str) -> None:
    assert module in modules(), f"{module} is gone or short: take it from ELSEWHERE"
    assert (ROOT / "tests" / tests).exists()

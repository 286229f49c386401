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


ELSEWHERE = {
    "server/api/v2": "server/test_app.py",
    "server/commands/tune/__init__": "server/tuning/test_tuner.py",
    "server/debug/conditions/masks": "server/debug/test_fault_search.py",
    "server/formats/dumps/msprobe_folder": "server/formats/dumps/layouts/test_msprobe_folder.py",
    "server/formats/events/__init__": "server/formats/events/test_mixtures.py",
    "server/formats/events/decoder_results": "server/formats/events/test_mixtures.py",
    "server/http/openapi": "server/v1/test_v1.py",
    "server/report/fault_sections": "server/report/test_run_report.py",
    "server/tuning/gaussian_process": "server/tuning/test_samplers.py",
    "server/types": "server/store",
    "writer/__init__": "test_imports.py",
    "writer/encoding/encoder": "writer/test_pending.py",
    "writer/frameworks/jax": "writer/frameworks/test_frameworks.py",
    "writer/frameworks/torch": "writer/frameworks/test_frameworks.py",
    "writer/integrations/ignite": "writer/integrations/test_training.py",
    "writer/integrations/keras": "writer/integrations/test_training.py",
    "writer/integrations/lightning": "writer/integrations/test_training.py",
    "writer/recorders/mindspore_operators": "server/debug/test_recorded_mindspore.py",
    "writer/recorders/mindspore_values": "server/debug/test_recorded_mindspore.py",
    "writer/recorders/probe": "writer/recorders/test_precision_debugger.py",
    "writer/recorders/torch_operators": "writer/recorders/test_dump_recorder.py",
    "writer/recorders/torch_probe": "writer/recorders/test_precision_debugger.py",
    "writer/recorders/torch_tensors": "interop/tensor_kinds_in_torch.py",
    "writer/recorders/torch_training": "writer/recorders/test_flight_recorder.py",
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

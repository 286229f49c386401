"""The committed Python code is what the .proto files say."""

import importlib
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest

PROTO = Path(__file__).parents[2] / "proto"
NAMES = sorted(path.stem for path in (PROTO / "mindinsight" / "proto").glob("*.proto"))


@pytest.mark.slow
def test_regenerating_changes_nothing(tmp_path: Path) -> None:
    """Byte for byte where the pinned compiler runs, else by the descriptors of a newer one."""
    if sys.version_info < (3, 13):
        generated = regenerate(tmp_path)
        assert generated
        for path in generated:
            assert path.read_bytes() == (PROTO / path.relative_to(tmp_path)).read_bytes(), path.name
    else:
        assert descriptors_of_the_files(tmp_path) == descriptors_of_the_code()


def regenerate(target: Any) -> list[Any]:
    command = ["bash", str(PROTO / "generate.sh"), str(target)]
    subprocess.run(command, check=True, capture_output=True, timeout=250)
    return [path for pattern in ("*_pb2.py", "*_pb2.pyi") for path in target.rglob(pattern)]


def descriptors_of_the_files(folder: Any) -> dict[Any, Any]:
    from google.protobuf.descriptor_pb2 import FileDescriptorSet

    environment = folder / "environment"
    venv.create(environment, with_pip=True)
    python = environment / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "grpcio-tools"], check=True, timeout=250)
    files = [f"mindinsight/proto/{name}.proto" for name in NAMES]
    command = [python, "-m", "grpc_tools.protoc", "-I.", f"--descriptor_set_out={folder / 'set'}", *files]
    subprocess.run(command, cwd=PROTO, check=True, timeout=60)
    return {file.name: file for file in FileDescriptorSet.FromString((folder / "set").read_bytes()).file}


def descriptors_of_the_code() -> Any:
    from google.protobuf.descriptor_pb2 import FileDescriptorProto

    descriptors = {}
    for name in NAMES:
        module = importlib.import_module(f"mindinsight.proto.{name}_pb2")
        descriptors[module.DESCRIPTOR.name] = FileDescriptorProto.FromString(module.DESCRIPTOR.serialized_pb)
    return descriptors


@pytest.mark.parametrize("name", NAMES)
def test_nothing_of_ours_can_clash_with_another_tool(name: Any) -> None:
    module = importlib.import_module(f"mindinsight.proto.{name}_pb2")
    assert module.DESCRIPTOR.name == f"mindinsight/proto/{name}.proto"
    assert module.DESCRIPTOR.package.startswith("mindinsight.proto")

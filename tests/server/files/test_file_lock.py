"""A lock that a process holds."""

import subprocess
import sys
from pathlib import Path

import pytest

from mindinsight.server.files.file_lock import locked
from tests.narrowing import require

HOLD = """
import sys
from pathlib import Path
from mindinsight.server.files.file_lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_another_process_waits_until_it_is_free(tmp_path: Path) -> None:
    file = tmp_path / "new" / "values.json"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert require(holder.stdout).readline() == "held\n"
    with pytest.raises(TimeoutError, match=r"values\.json\.lock"), locked(file, wait=0.1):
        pass
    holder.kill()  # a lock dies with who holds it
    holder.communicate()
    with locked(file):
        pass

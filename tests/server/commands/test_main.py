"""The command as a person meets it: real processes, real ports."""

import re
from typing import Any


def test_version_and_help(shell: Any) -> None:
    assert re.fullmatch(r"mindinsight \(\d+\.\d+\.\d+\)\n", shell.run("--version").stdout)
    for arguments in ((), ("help",), ("--help",)):
        done = shell.run(*arguments)
        assert done.returncode == 0
        assert "start the server" in done.stdout

"""The command as a person meets it: real processes, real ports."""

import re
from typing import Any

import pytest

from mindinsight.server.commands.main import main


def test_version_and_help(shell: Any) -> None:
    assert re.fullmatch(r"mindinsight \(\d+\.\d+\.\d+\)\n", shell.run("--version").stdout)
    for arguments in ((), ("help",), ("--help",)):
        done = shell.run(*arguments)
        assert done.returncode == 0
        assert "start a server" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ls", "--jsno"), "mindinsight ls: it takes no option --jsno; did you mean --json?"),
        (("start", "--summary-base-dri=x"), "did you mean --summary-base-dir?"),
        (("dump", "chek", "x"), "mindinsight dump: there is no 'chek'; did you mean check?"),
        (("strat",), "mindinsight: there is no 'strat'; did you mean start?"),
        (("ls", "more"), "mindinsight ls: it takes no argument 'more'"),
        (("start", "--port", "x"), "--port: 'x' is not a whole number from 1 to 65535"),
    ],
)
def test_a_mistake_is_one_line_with_what_was_meant(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line

"""Commands as a person or a script runs them, within the process of the tests."""

import pytest

from mindinsight.server.commands.main import main


@pytest.fixture
def run(capsys):
    """Runs a command; gives its exit code, its output and what it said on standard error."""

    def command(*arguments):
        code = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return command

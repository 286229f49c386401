"""Settings of all tests, and the budget of reruns."""

import pytest
from hypothesis import settings

from tests.thoroughness import amount

# How long an example takes says more about what else the machine is doing than about the code.
settings.register_profile("here", deadline=None, max_examples=amount(100, 30))
settings.register_profile("quick", deadline=None, max_examples=15)  # make quick
settings.load_profile("here")

# Reruns of flaky tests in one run. Of some 700 tests with a browser one or two are starved on a busy machine;
# more than this is a fault that reruns would hide.
MOST_RERUNS = 10
RERUNS = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[RERUNS] = []

    class Counter:
        """Tests that failed and were run again; with xdist all of them arrive at the controller."""

        @staticmethod
        def pytest_runtest_logreport(report: pytest.TestReport) -> None:
            if report.outcome == "rerun":  # of pytest-rerunfailures
                config.stash[RERUNS].append(report.nodeid)

    config.pluginmanager.register(Counter())


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run in which too many tests passed only when they were run again."""
    if len(session.config.stash[RERUNS]) > MOST_RERUNS and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, exitstatus: int, config: pytest.Config
) -> None:
    if (count := len(config.stash[RERUNS])) > MOST_RERUNS:
        terminalreporter.write_line(
            f"{count} reruns, {MOST_RERUNS} are allowed: the run has failed.", red=True
        )

"""Facts about the program that trains: command, packages, environment and Git, without secrets."""

from __future__ import annotations

import logging
import os
import platform
import re
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, Final, Protocol

_log: Final = logging.getLogger(__name__)
HIDDEN: Final = "***"
_MOST_DIFF: Final = 1 << 20  # bytes: a change that somebody reads is far smaller, data in Git is not
_GIT_SECONDS: Final = 3.0  # for each question: a training does not wait for a slow file system
# Variables that say how a training runs. All others stay unread: most secrets are in variables.
_VARIABLES: Final = (
    "ASCEND_RT_VISIBLE_DEVICES",
    "CONDA_DEFAULT_ENV",
    "CUBLAS_WORKSPACE_CONFIG",
    "CUDA_LAUNCH_BLOCKING",
    "CUDA_VISIBLE_DEVICES",
    "DEVICE_ID",
    "GLOG_v",
    "HCCL_DETERMINISTIC",
    "HIP_VISIBLE_DEVICES",
    "JAX_ENABLE_X64",
    "JAX_PLATFORMS",
    "KMP_AFFINITY",
    "LOCAL_RANK",
    "MKL_NUM_THREADS",
    "MS_ENABLE_GE",
    "NCCL_ALGO",
    "NCCL_DEBUG",
    "NCCL_PROTO",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "PYTHONHASHSEED",
    "PYTORCH_CUDA_ALLOC_CONF",
    "RANK",
    "RANK_ID",
    "RANK_SIZE",
    "SLURM_JOB_ID",
    "SLURM_JOB_NAME",
    "SLURM_NNODES",
    "SLURM_NTASKS",
    "SLURM_PROCID",
    "TF_DETERMINISTIC_OPS",
    "TORCH_CUDNN_V8_API_ENABLED",
    "VIRTUAL_ENV",
    "WORLD_SIZE",
    "XLA_FLAGS",
)

# Ends of names; `key` and `pwd` alone name other things.
_WORDS: Final = "token|apikey|secret|password|passwd|passphrase|credentials?|authorization"
_SECRET_NAME: Final = (
    rf"(?:(?<![A-Za-z\d])(?:{_WORDS})|(?<=[._-])(?:key|pwd)|(?-i:(?<=[a-z])(?:Token|Key|Secret|Password)))"
)
_OPTION: Final = re.compile(rf"--?[\w.-]*{_SECRET_NAME}", re.IGNORECASE)
_VALUE: Final = r"(\"[^\"\n]*\"|'[^'\n]*'|[^\s,;&)}]+)"


def _any_case(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


_NAMES: Final = (
    "token",
    "apikey",
    "secret",
    "passw",
    "passphrase",
    "credential",
    "authorization",
    "key",
    "pwd",
)
LONG_WORD: Final = 32  # characters of a key without a known beginning
# Patterns, what stands instead, and texts of which one is in whatever matches, in small letters; without any,
# there is a word of LONG_WORD characters. To look for these first makes nine of ten searches needless.
SECRETS: Final = (
    # Private keys, to their end or to that of the text.
    (
        re.compile(r"(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"),
        HIDDEN,
        ("private key",),
    ),
    # Name and password in a URL.
    (_any_case(r"(?<=://)[^/\s@'\"]+@"), f"{HIDDEN}@", ("://",)),
    (_any_case(r"\b(bearer|basic)[ \t]+[\w.~+/=-]{8,}"), rf"\1 {HIDDEN}", ("bearer", "basic")),
    # Values after the name of a secret: name=value, "name": "value", --name value.
    (_any_case(rf"({_SECRET_NAME}[\"']?[ \t]*[:=][ \t]*){_VALUE}"), rf"\1{HIDDEN}", _NAMES),
    (_any_case(rf"(?<!\S)(--?[\w.-]{{0,64}}{_SECRET_NAME}[ \t]+)(?!-){_VALUE}"), rf"\1{HIDDEN}", _NAMES),
    # Keys by the beginnings that their makers give them, and JSON Web Tokens.
    (
        re.compile(
            r"\b(?:(?:sk|pk|rk)[-_][\w-]{16,}|gh[opsur]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|hf_\w{20,}"
            r"|(?:AKIA|ASIA)[A-Z\d]{16}|AIza[\w-]{30,}|xox[abeprs]-[\w-]{10,}|npm_\w{30,}|pypi-[\w-]{30,}"
            r"|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)"
        ),
        HIDDEN,
        (
            *(f"{letter}k{sign}" for letter in "spr" for sign in "-_"),
            *(f"gh{letter}_" for letter in "opsur"),
            *("github_pat_", "glpat-", "hf_", "akia", "asia", "aiza", "npm_", "pypi-", "eyj"),
            *(f"xox{letter}-" for letter in "abeprs"),
        ),
    ),
    # Long runs of hexadecimal digits, or of letters of both cases with digits.
    (re.compile(r"\b[\da-fA-F]{32,}\b"), HIDDEN, ()),
    (
        re.compile(r"\b(?=[A-Za-z\d]*\d)(?=[A-Za-z\d]*[a-z])(?=[A-Za-z\d]*[A-Z])[A-Za-z\d]{32,}\b"),
        HIDDEN,
        (),
    ),
)


class Recorder(Protocol):
    """Interface of the recorder of a program, such as SummaryRecord."""

    def add_value(self, plugin: str, name: str, value: Any, *, step: int) -> None:
        """Record a value."""


def record_program(record: Recorder) -> None:
    """Record the program of this process. Whatever fails is logged, because it must not end the training."""
    try:
        record.add_value("code", "code", program_facts(), step=0)
    except Exception as error:  # a directory that is gone, a broken installation of a package
        _log.warning("the program is not recorded: %s", error)


def program_facts(
    command: Sequence[str] | None = None,
    directory: Path | None = None,
    environment: Mapping[str, str] = os.environ,
) -> dict[str, Any]:
    """Return the facts for ``add_value("code", ...)``: version, command, directory, host, system, python,
    packages, environment, and in a repository git. Possible secrets are ``***``.

    The keys are those of Summary.Code in proto/mindinsight/proto/FORMAT.md. ``command`` and ``directory`` are
    those of this process unless given. ``git`` is missing outside a repository and without Git.
    """
    directory = directory or Path.cwd()
    command = list(getattr(sys, "orig_argv", sys.argv) if command is None else command)
    script = _script_directory(command, directory)
    repository = _git_facts(script) or _git_facts(directory)
    return {
        "version": 1,
        "command": _shown_command(command),
        "directory": hide_secrets(str(directory)),
        "host": platform.node(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "packages": _packages(),
        "environment": {
            name: hide_secrets(environment[name]) for name in _VARIABLES if environment.get(name)
        },
        **({"git": repository} if repository else {}),
    }


def hide_secrets(text: str) -> str:
    """Return a text with ``***`` in place of everything that looks like a password, key or token."""
    lower = text.lower()
    has_long_word = max(map(len, text.split()), default=0) >= LONG_WORD
    for pattern, instead, parts in SECRETS:
        if any(part in lower for part in parts) if parts else has_long_word:
            text = pattern.sub(instead, text)
    return text


def _shown_command(command: Sequence[str]) -> list[str]:
    """Return the arguments without secrets. The name of a secret may be the argument before it."""
    shown: list[str] = []
    for argument in command:
        before = shown[-1] if shown else ""
        is_value = _OPTION.fullmatch(before) is not None and not argument.startswith("-")
        shown.append(HIDDEN if is_value else hide_secrets(argument))
    return shown


def _script_directory(command: Sequence[str], directory: Path) -> Path:
    """Return the directory of the script in a command, or ``directory`` without one."""
    scripts = (directory / argument for argument in command[1:] if argument.endswith(".py"))
    return next((script.resolve().parent for script in scripts if script.is_file()), directory)


def _packages() -> dict[str, str]:
    """Return the installed packages: version by name, in the order of names."""
    versions: dict[str, str] = {}
    for distribution in metadata.distributions():
        name = distribution.metadata["Name"]
        if name:
            versions.setdefault(name, distribution.version)  # the first on the path is the one imported
    return dict(sorted(versions.items(), key=lambda item: item[0].lower()))


def _git_facts(directory: Path) -> dict[str, Any] | None:
    """Return commit, branch, remote and uncommitted changes; None outside a repository and without Git."""
    commit = _git(directory, "rev-parse", "HEAD")
    if commit is None:
        return None
    branch = _git(directory, "rev-parse", "--abbrev-ref", "HEAD")
    remote = _git(directory, "config", "--get", "remote.origin.url")
    diff = _git(directory, "diff", "--no-ext-diff", "--no-textconv", "--no-color", "HEAD")
    untracked = _git(directory, "ls-files", "--others", "--exclude-standard", "--full-name", ":/")
    return {
        "commit": commit.strip(),
        "branch": (branch or "").strip(),
        "remote": hide_secrets((remote or "").strip()),
        "diff": None if diff is None else hide_secrets(diff),
        "cut": diff is not None and len(diff) >= _MOST_DIFF,
        "untracked": None if untracked is None else len(untracked.splitlines()),
    }


def _git(directory: Path, *arguments: str) -> str | None:
    """Return Git's output, or None if Git fails or takes longer than ``_GIT_SECONDS``. What the repository
    configures to be run (hooks, file monitors, filters of differences) is not."""
    safe = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=false"]
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        process = subprocess.Popen(
            ["git", *safe, "-C", str(directory), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
    except OSError:
        return None
    timer = threading.Timer(_GIT_SECONDS, process.kill)
    timer.start()
    with process:
        assert process.stdout is not None
        output = process.stdout.read(_MOST_DIFF)
        in_time = timer.is_alive()
        timer.cancel()
        if len(output) == _MOST_DIFF:
            process.kill()
            return output.decode("utf-8", "backslashreplace")
    return output.decode("utf-8", "backslashreplace") if in_time and process.returncode == 0 else None

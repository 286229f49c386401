"""Facts about the program: what they say, that secrets stay out of them, and that Git never holds them up."""

from __future__ import annotations

import json
import platform
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.writer import RunArguments, RunContext, SummaryCollector, SummaryRecord
from mindinsight.writer import program as module
from mindinsight.writer.integrations.training import Training
from mindinsight.writer.program import hide_secrets, program_facts, record_program

SECRET = "s3cr3tValue"
HEX = "0123456789abcdef0123456789abcdef01234567"
MIXED = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF"


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=n", "-c", "user.email=e@f", "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch", "trial")
    (folder / "train.py").write_text("rate = 0.1\n")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "first")
    git(folder, "remote", "add", "origin", f"https://me:{SECRET}@example.org/me/work.git")
    return folder


def test_command_packages_environment_and_git(repository: Path, tmp_path: Path) -> None:
    (repository / "train.py").write_text(f"rate = 0.2\nAPI_KEY = '{SECRET}'\n")
    (repository / "new.py").write_text("")
    variables = {"CUDA_VISIBLE_DEVICES": "0,1", "HOME": "/home/me", "WANDB_API_KEY": SECRET}
    command = ["python", str(repository / "train.py"), "--lr", "0.2", "--api-key", SECRET]
    facts = program_facts(command, tmp_path, variables)
    assert facts["command"] == [*command[:-1], "***"]
    assert (facts["directory"], facts["python"]) == (str(tmp_path), platform.python_version())
    assert facts["packages"]["numpy"] == np.__version__
    assert facts["environment"] == {"CUDA_VISIBLE_DEVICES": "0,1"}
    commit = facts["git"]
    assert commit["commit"] == git(repository, "rev-parse", "HEAD")
    assert (commit["branch"], commit["untracked"], commit["cut"]) == ("trial", 1, False)
    assert commit["remote"] == "https://***@example.org/me/work.git"
    assert "-rate = 0.1\n+rate = 0.2\n" in commit["diff"]
    assert SECRET not in json.dumps(facts)


def test_outside_a_repository_and_without_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "git" not in program_facts(["python"], tmp_path, {})
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "git" not in program_facts(["python"], tmp_path, {})


def test_a_large_change_is_cut_and_says_so(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_DIFF", 200)
    (repository / "train.py").write_text("rate = 0.3\n" * 10_000)
    changes = program_facts(["python"], repository, {})["git"]
    assert (len(changes["diff"]), changes["cut"]) == (200, True)


def test_git_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "git"
    program.write_text("#!/bin/sh\nexec sleep 600\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(module, "_GIT_SECONDS", 0.1)
    assert "git" not in program_facts(["python"], tmp_path, {})  # waiting for it would reach the test's limit


def test_nothing_that_the_repository_names_is_run(repository: Path) -> None:
    mark, script = repository / "ran", repository / "evil"
    script.write_text(f"#!/bin/sh\ntouch {mark}\n")
    script.chmod(0o755)
    for name in ("core.fsmonitor", "diff.external", "diff.own.textconv", "diff.own.command", "core.pager"):
        git(repository, "config", name, str(script))
    (repository / ".gitattributes").write_text("*.py diff=own\n")
    (repository / "train.py").write_text("rate = 0.2\n")
    assert "+rate = 0.2" in program_facts(["python"], repository, {})["git"]["diff"]
    assert not mark.exists()


@pytest.mark.parametrize(
    "text",
    [
        f"python train.py --api-key={SECRET}",
        f"python train.py --token {SECRET} --lr 1",
        f"python train.py --hf_token '{SECRET}'",
        f"AWS_SECRET_ACCESS_KEY={SECRET}",
        f"export MY_TOKEN={SECRET}",
        f"DB_PASSWORD: {SECRET}",
        f'{{"password": "{SECRET} with blanks"}}',
        f"client_secret='{SECRET}'",
        f"passphrase = {SECRET}",
        f"accessToken: '{SECRET}'",
        f"{'long_' * 50}key={SECRET}",
        f"https://user:{SECRET}@example.org/path",
        f"postgresql://{SECRET}@db/name",
        f"Authorization: Bearer {SECRET}",
        f"curl -H 'authorization: Basic {SECRET}'",
        f"sk-{SECRET}{SECRET}",
        f"ghp_{SECRET}{SECRET}",
        f"hf_{SECRET}{SECRET}",
        f"glpat-{SECRET}{SECRET}",
        "AKIAS3CR3TVALUES3CR3",
        f"xoxb-1234-{SECRET}",
        f"eyJhbGciOiJIUzI1NiJ9.{SECRET}{SECRET}.{SECRET}",
        f"key {HEX}",
        f"value {MIXED}",
        f"-----BEGIN RSA PRIVATE KEY-----\n{SECRET}\n-----END RSA PRIVATE KEY-----",
        f"+-----BEGIN PRIVATE KEY-----\n+{SECRET}",
    ],
)
def test_secrets_are_hidden(text: str) -> None:
    hidden = hide_secrets(text)
    assert "***" in hidden
    for secret in (SECRET, HEX, MIXED, "S3CR3TVALUE", "with blanks"):
        assert secret not in hidden


@pytest.mark.parametrize(
    "text",
    [
        "python train.py --lr 0.1 --max_tokens 512 --tokenizer bert-base-uncased --num_key_value_heads=8",
        "sorted(rows, key=lambda row: row.name)",
        "git@github.com:me/work.git https://example.org/me/work.git",
        "/data/experiments/Qwen2-7B-Instruct-GPTQ-Int4/checkpoint-12000/model.safetensors",
        "index 3ff58609..288f4b5e 100644",
        "self.attention_mask = attention_mask.expand_as(hidden_states_of_all_layers_before)",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert hide_secrets(text) == text


LONG = (
    "a." * 500_000,
    'token="' * 100_000,
    "my_" * 300_000,
    "-----BEGIN PRIVATE KEY-----" * 30_000,
    "aB3" * 300_000,
)


@pytest.mark.parametrize("text", LONG, ids=range(len(LONG)))
def test_no_text_takes_long(text: str) -> None:
    """Time that grew with the square of the length would reach the limit of a test."""
    assert len(hide_secrets(text)) <= len(text)


def test_what_fails_is_a_warning_and_no_end_of_the_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with SummaryRecord(str(tmp_path / "run")) as record:
        record_program(record)
    assert "the program is not recorded" in caplog.text


def training_steps(collector: SummaryCollector) -> None:
    arguments = RunArguments(mode="train", cur_step_num=1, net_outputs=1.0)
    with collector:
        collector.begin(RunContext(arguments))
        collector.step_end(RunContext(arguments))
        collector.end(RunContext(arguments))


def test_a_collector_records_the_program_once_and_of_one_rank(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reading_of: Any
) -> None:
    collector = SummaryCollector(tmp_path / "run")
    training_steps(collector)
    training_steps(collector)
    training_steps(SummaryCollector(tmp_path / "off", collect_specified_data={"collect_code": False}))
    (program,) = reading_of(tmp_path / "run").programs()
    assert program["packages"]["numpy"] == np.__version__
    assert reading_of(tmp_path / "off").programs() == []
    monkeypatch.setenv("RANK_ID", "1")
    monkeypatch.setenv("RANK_SIZE", "2")
    training_steps(SummaryCollector(tmp_path / "job"))
    assert reading_of(tmp_path / "job").programs() == []


def test_callbacks_record_the_program_unless_told_otherwise(tmp_path: Path, reading_of: Any) -> None:
    Training(tmp_path / "run").close()
    Training(tmp_path / "off", also=()).close()
    assert len(reading_of(tmp_path / "run").programs()) == 1
    assert reading_of(tmp_path / "off").programs() == []


def test_what_is_no_dict_of_json_values_is_refused(tmp_path: Path) -> None:
    with SummaryRecord(str(tmp_path)) as record:
        for wrong in ("text", {"python": object()}, {"python": float("nan")}):
            with pytest.raises((TypeError, ValueError)):
                record.add_value("code", "code", wrong)

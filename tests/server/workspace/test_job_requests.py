"""Requests of long jobs in the workspace: every server finds them, and the newest are kept."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mindinsight.server.workspace import job_requests
from mindinsight.server.workspace.job_requests import JobRequests


def test_another_server_finds_a_request(tmp_path: Path) -> None:
    number = JobRequests(tmp_path / "jobs").add("check", {"dump": "./a", "steps": [1]})
    other = JobRequests(tmp_path / "jobs")
    assert other.body("check", number) == {"dump": "./a", "steps": [1]}
    assert other.body("comparison", number) is None
    assert other.body("check", number + 1) is None
    assert (tmp_path / "jobs" / f"{number}.json").stat().st_mode & 0o777 == 0o600


def test_the_newest_requests_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_requests, "_KEPT", 3)
    requests = JobRequests(tmp_path)
    numbers = []
    for age in range(5):
        numbers.append(requests.add("check", {"age": age}))
        os.utime(tmp_path / f"{numbers[-1]}.json", (age, age))
    requests.add("check", {})
    assert [requests.body("check", number) for number in numbers] == [
        None,
        None,
        None,
        {"age": 3},
        {"age": 4},
    ]


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{", b'{"kind": "check"}', b'{"kind": "check", "body": 1}', b"\xff"]
)
def test_what_is_no_request_is_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "7.json").write_bytes(content)
    assert JobRequests(tmp_path).body("check", 7) is None


def test_nested_and_large_files_are_no_requests(tmp_path: Path) -> None:
    (tmp_path / "7.json").write_bytes(b"[" * 100_000)
    (tmp_path / "8.json").touch()
    os.truncate(tmp_path / "8.json", 1 << 40)
    requests = JobRequests(tmp_path)
    assert (requests.body("check", 7), requests.body("check", 8), requests.body("check", -1)) == (
        None,
        None,
        None,
    )


def test_a_workspace_that_cannot_be_written_still_gives_numbers(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    requests = JobRequests(tmp_path / "file" / "jobs")
    number = requests.add("check", {})
    assert number != requests.add("check", {})
    assert requests.body("check", number) is None

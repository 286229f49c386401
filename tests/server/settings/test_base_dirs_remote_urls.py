from pathlib import Path

import pytest

from mindinsight.server.errors import BadSettings
from mindinsight.server.settings import Settings
from mindinsight.server.settings.base_dirs import (
    absent,
    bases_of,
    check_url,
    home,
    is_url,
    joined,
    mirror_of,
    split,
    stores,
    texts_of,
)


@pytest.mark.parametrize(
    "text", ["s3://bucket/runs", "memory://runs", "zip://::s3://b/a.zip", "https://h/runs/"]
)
def test_stores(text: str) -> None:
    assert is_url(text)


@pytest.mark.parametrize("text", [".", "/a/b", "runs", "lab=/a", "C:/runs", "a:b", "://x", "1s://x"])
def test_directories(text: str) -> None:
    assert not is_url(text)


@pytest.mark.parametrize(
    "url",
    [
        "s3://key:sesame@bucket/runs",
        "https://user:sesame@host/runs",
        "https://host/runs?X-Amz-Signature=sesame",
        "zip://runs::https://user:sesame@host/a.zip",
        "https://[sesame/runs",
    ],
)
def test_credentials_are_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(BadSettings) as refused:
        check_url(url)
    assert "sesame" not in str(refused.value)


def test_a_copy_is_named_after_the_last_part_and_told_apart_by_the_url(tmp_path: Path) -> None:
    first, second = (mirror_of(f"s3://bucket/{team}/summary", tmp_path) for team in ("a", "b"))
    assert first.name == second.name == "summary"
    assert first != second
    assert mirror_of("s3://bucket", tmp_path).name == "bucket"
    assert mirror_of("zip://::s3://bucket/runs.zip", tmp_path).name == "runs.zip"
    assert mirror_of("sftp://me@host/..", tmp_path).parents[1] == tmp_path / "remote"


def test_stores_stand_beside_directories(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    texts = [f"{tmp_path}/runs", "s3://bucket/summary/", "lab=gs://other/runs"]
    bases = bases_of(texts, tmp_path / "workspace")
    assert texts_of(bases) == [f"{tmp_path}/runs", "s3://bucket/summary", "lab=gs://other/runs"]
    assert [base.url for base in stores(bases)] == ["s3://bucket/summary", "gs://other/runs"]
    assert split(joined(bases)) == texts_of(bases)
    assert absent(bases) == []
    settings = Settings(bases, tmp_path / "workspace")
    assert Settings.from_json(settings.to_json()) == settings


def test_a_store_alone_is_known_by_its_url(tmp_path: Path) -> None:
    bases = bases_of("s3://bucket/summary", tmp_path)
    assert [str(base) for base in stores(bases)] == ["s3://bucket/summary"]
    assert home(bases) == Path("several:s3://bucket/summary")


def test_only_the_server_reads_from_stores() -> None:
    with pytest.raises(BadSettings, match="mindinsight start"):
        bases_of("s3://bucket/summary")


def test_one_store_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadSettings, match=r"s3://bucket/a and s3://bucket/a are the same"):
        bases_of(["x=s3://bucket/a", "y=s3://bucket/a"], tmp_path)


@pytest.mark.parametrize(
    "url",
    [
        "https://sesame@host/runs",
        "s3://sesame@bucket/runs",
        "https://host/runs#sesame",
        "sftp://me:sesame@host/x",
    ],
)
def test_a_secret_in_any_part_of_a_url_is_refused_without_being_repeated(url: str) -> None:
    with pytest.raises(BadSettings) as refused:
        check_url(url)
    assert "sesame" not in str(refused.value)


def test_users_and_containers_of_stores_that_have_them_stay() -> None:
    for url in ("sftp://me@host/runs", "abfs://container@account.dfs.core.windows.net/runs"):
        assert check_url(url) == url

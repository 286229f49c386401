import pytest

from mindinsight.server.errors import ApiError
from mindinsight.server.store.run import Run, Snapshot


@pytest.fixture
def snapshot() -> Snapshot:
    run = Run("./a", "a", "/base/a", "./a", None, 0.0, 0.0, 0)
    return Snapshot(1, {"./a": run}, 0, "/base", "polling", 0.0)


def test_a_run_is_had_by_its_id(snapshot: Snapshot) -> None:
    assert snapshot.run("./a").path == "/base/a"


def test_a_run_or_tag_that_is_not_there_is_not_found(snapshot: Snapshot) -> None:
    with pytest.raises(ApiError) as no_run:
        snapshot.run("./b")
    with pytest.raises(ApiError) as no_tag:
        snapshot.payloads("./a", "image", "cat")
    assert (no_run.value.status, no_tag.value.status) == (404, 404)
    assert no_run.value.code != no_tag.value.code

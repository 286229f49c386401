"""What the cache knows of a TensorBoard file is what was read of it: sessions and hyperparameters too."""

from pathlib import Path

import pytest

from mindinsight.server.ingest.cache.cache_file import CacheFile, CacheFileWriter
from mindinsight.server.ingest.cache.entries import decode_file, encode_file
from mindinsight.server.ingest.piece_reader import PieceRequest, read_piece
from mindinsight.server.ingest.staging.file_stage import FileStage
from tests.narrowing import require

RUNS = Path(__file__).parents[3] / "data" / "tfevents" / "runs"


@pytest.mark.parametrize("run", ["tensors/train", "torch/trial", "purged", "graph"])
def test_a_file_is_known_as_it_was_read(tmp_path: Path, run: str) -> None:
    for path in sorted((RUNS / run).glob("*tfevents*")):
        file = FileStage(path.name, str(path))
        size = path.stat().st_size
        answer = read_piece(PieceRequest(str(path), 0, size, tensorboard=True))
        file.fold(require(answer.stretch), None, answer.fingerprint)
        pack = CacheFileWriter(tmp_path / "a.pack")
        pack.run("./run", encode_file(file, pack))
        pack.finish()
        cache_file = CacheFile(tmp_path / "a.pack")
        again = decode_file(cache_file.note("./run"), cache_file.body("./run"), str(path))
        cache_file.close()
        assert (again.sessions, again.hparams) == (file.sessions, file.hparams)
        assert again.held() == file.held()
        for key in file.held():
            mine, theirs = file.part(key), again.part(key)
            assert mine.steps.tolist() == theirs.steps.tolist()
            assert mine.sessions.tolist() == theirs.sessions.tolist()


def test_the_samples_have_sessions_and_hyperparameters_to_keep() -> None:
    facts = []
    for path in RUNS.rglob("*tfevents*"):
        file = FileStage(path.name, str(path))
        answer = read_piece(PieceRequest(str(path), 0, path.stat().st_size, tensorboard=True))
        file.fold(require(answer.stretch))
        facts.append((file.sessions > 0, bool(file.hparams)))
    assert tuple(map(any, zip(*facts, strict=True))) == (True, True)

"""The operator at which ranks part that should be equal, in a training of three ranks by PyTorch.

``tests/interop/planted_in_torch.py`` made the run.
"""

from pathlib import Path

from mindinsight.server.claims import sentence
from mindinsight.server.debug.fault import source_frame
from mindinsight.server.debug.rank_divergence import find_divergence
from mindinsight.server.formats.dumps import open_dump
from tests.flight import unpack
from tests.narrowing import require


def test_the_rank_that_reduces_wrongly_is_named_with_the_operator_and_its_line(tmp_path: Path) -> None:
    dump = open_dump(unpack("wrong_reduction", tmp_path) / "flight_dump")
    divergence = require(find_divergence(dump))
    assert (divergence.step, divergence.ranks, divergence.entry.operator) == (25, (1,), "Default/div_-op0")
    assert require(source_frame(divergence.operator)).code == "parameter.grad.div_(1 if wrong else world)"
    assert sentence(divergence.claim).endswith("Norms by rank: 0: 2.66042, 1: 7.98125, 2: 2.66042.")


def test_of_two_ranks_none_is_blamed_and_one_alone_agrees(tmp_path: Path) -> None:
    folder = unpack("wrong_reduction", tmp_path) / "flight_dump"
    (folder / "rank_2").rename(tmp_path / "away")
    divergence = require(find_divergence(open_dump(folder)))
    assert (divergence.ranks, divergence.claim.key) == ((), "claim.ranks.differ")
    (folder / "rank_1").rename(tmp_path / "too")
    assert find_divergence(open_dump(folder)) is None

"""Every kind in the table has the encoder that its module is named for."""

from pathlib import Path
from typing import Any

import pytest

from mindinsight.proto.kinds import KINDS, LINEAGE_FIELDS
from mindinsight.writer.buffer_pool import BufferPool
from mindinsight.writer.encoding import kinds

PAYLOADS = [kind.name for kind in KINDS if kind.storage == "payload" and kind.in_add_value]


@pytest.mark.parametrize("name", [*PAYLOADS, *LINEAGE_FIELDS])
def test_an_encoder_is_found_by_the_name_of_its_kind(name: Any) -> None:
    assert kinds.encoder(name).kind == name
    assert name in kinds.NAMES


def test_a_module_of_its_own_is_all_a_kind_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sound.py").write_text(
        "from mindinsight.writer.encoding.encoder import MessageEncoder\n"
        "class SoundEncoder(MessageEncoder):\n"
        "    def serialised(self, value): return value.encode()\n"
        "ENCODER = SoundEncoder('sound')\n"
    )
    monkeypatch.setattr(kinds, "__path__", [*kinds.__path__, str(tmp_path)])
    encoder = kinds.encoder("sound")
    assert encoder.message(encoder.item("s", "ping", 100, BufferPool())) == b"ping"

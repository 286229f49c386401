"""Names of what performs heavy work: this machine's processes, or a cluster's scheduler."""

from __future__ import annotations

import importlib.util
import re
from typing import Final

from mindinsight.server.errors import BadSettings

LOCAL: Final = "local"
SCHEMES: Final = {"dask": "tcp", "dask+tls": "tls"}  # of an address, and as Dask calls them

_ADDRESS: Final = re.compile(r"([a-z+]+)://([A-Za-z0-9_.\-]+|\[[0-9a-fA-F:]+\]):(\d{1,5})")


def scheduler_address(text: str) -> str:
    """``dask://host:8786`` as Dask's own ``tcp://host:8786``. Raises ValueError for any other text."""
    match = _ADDRESS.fullmatch(text)
    if match is None or match[1] not in SCHEMES or not 0 < int(match[3]) < 1 << 16:
        raise ValueError(f"{text!r} is not {LOCAL} nor an address such as dask://scheduler:8786")
    return f"{SCHEMES[match[1]]}://{match[2]}:{match[3]}"


def check_cluster_package() -> None:
    """Raises BadSettings where Dask's package is missing."""
    if importlib.util.find_spec("distributed") is None:
        raise BadSettings("--executor dask:// needs a package: pip install 'mindinsight[cluster]'")

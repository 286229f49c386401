"""For notebooks: ``mindinsight.open("./summary")`` reads summaries, ``mindinsight.dump("./dump")`` reads
tensor dumps, ``mindinsight.show("./summary")`` shows the pages.

The package has several source folders, and may have several distributions: each adds its part to the path.
"""

import importlib
from pkgutil import extend_path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mindinsight.server.client.dump_reader import dump
    from mindinsight.server.client.notebook import show
    from mindinsight.server.client.reader import open

    __version__: str

__path__ = extend_path(__path__, __name__)
__all__ = ["__version__", "dump", "open", "show"]


def load_ipython_extension(ipython: Any) -> None:
    """Register the magic ``%mindinsight`` in IPython, which ``%load_ext mindinsight`` calls."""
    importlib.import_module(f"{__name__}.server.client.notebook").register(ipython)


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    """Import ``open``, ``dump`` or ``show`` on first use, because a process that only writes needs
    no server."""
    if name == "__version__":
        from importlib.metadata import version

        return version(__name__)
    homes = {"dump": "client.dump_reader", "open": "client.reader", "show": "client.notebook"}
    if name not in homes:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.server.{homes[name]}"), name)

"""Import of uvicorn's server without its command line, which loads click (a sixth of a server's start).

``import uvicorn`` loads everything. Here the package is entered in ``sys.modules`` without being run, so that
its submodules can be imported; it is run when somebody asks it for a name.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any


def enter_package() -> None:
    """Enter uvicorn in ``sys.modules``, unless it is there."""
    if "uvicorn" in sys.modules:
        return
    spec = find_spec("uvicorn")
    assert spec is not None
    package = module_from_spec(spec)
    package.__dict__["__getattr__"] = lambda name: _run(package, name)
    sys.modules["uvicorn"] = package


def _run(package: ModuleType, name: str) -> Any:
    """Attribute ``name`` of the package, which is run first."""
    if name.startswith("__"):
        raise AttributeError(name)
    del package.__dict__["__getattr__"]
    assert package.__spec__ is not None and package.__spec__.loader is not None
    package.__spec__.loader.exec_module(package)
    return getattr(package, name)


enter_package()

from uvicorn.config import Config  # noqa: E402
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol  # noqa: E402
from uvicorn.server import Server  # noqa: E402

# uvicorn's own modules ask the package for these while it serves.
sys.modules["uvicorn"].__dict__.update(Config=Config, Server=Server)

__all__ = ["Config", "HttpToolsProtocol", "Server"]

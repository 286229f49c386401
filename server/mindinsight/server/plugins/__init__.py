"""Kinds of data, one module or package each; the folder is walked, so a new kind is a new file, no edit."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter

from mindinsight.server.compute.plugin_loading import modules_of


@dataclass(frozen=True)
class Plugin:
    """A kind of data with its routes below ``v2/<name>``.

    Its page, if it has one, is described by the web package (``http/view_entries.py``): pages are served
    before any plugin is loaded.
    """

    name: str
    router: APIRouter


def plugins() -> tuple[Plugin, ...]:
    """Every ``PLUGIN`` of the modules in this folder, by name."""
    exports = (getattr(module, "PLUGIN", None) for module in modules_of(__name__, __path__))
    return tuple(sorted((p for p in exports if isinstance(p, Plugin)), key=lambda p: p.name))

"""Kinds of data, one module or package each; the folder is walked, so a new kind is a new file, no edit."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter

from mindinsight.server.compute.plugin_loading import modules_of


@dataclass(frozen=True)
class Plugin:
    """A kind of data with its routes below ``v2/<name>`` and its page at ``/<name>``.

    The page's module is ``static/js/views/<name>.js``; its texts are the keys ``<name>.*``.
    Icon and overview tile are its ``icon.svg`` and ``tile.js`` in ``views/<name>/``.
    ``needs`` says what a run must hold for the page to have something to show: kinds, "lineage", "dump".
    """

    name: str
    order: int
    router: APIRouter
    needs: tuple[str, ...] = ()
    page: bool = True
    navigation: bool = True  # whether the navigation leads to the page


def plugins() -> tuple[Plugin, ...]:
    """Every ``PLUGIN`` of the modules in this folder, in the order of the navigation."""
    exports = (getattr(module, "PLUGIN", None) for module in modules_of(__name__, __path__))
    return tuple(sorted((p for p in exports if isinstance(p, Plugin)), key=lambda p: (p.order, p.name)))

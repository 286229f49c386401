"""Renderer of the report's template. Everything from files is escaped; the page asks no host for anything."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, select_autoescape

from mindinsight.server.report.content import Content
from mindinsight.server.report.curves import HEIGHT, WIDTH

_TEMPLATES: Final = Path(str(files("mindinsight.web"))) / "templates"


def render_page(content: Content) -> str:
    """The report as one HTML document without scripts."""
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=select_autoescape(),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page = environment.get_template("report.html")
    return page.render(report=content, t=content.t, width=WIDTH, height=HEIGHT)

"""Texts in Markdown: every recorded step, rendered, searched and compared."""

from mindinsight.server.plugins import Plugin
from mindinsight.server.plugins.text.routes import router

PLUGIN = Plugin(name="text", router=router)

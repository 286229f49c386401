"""Plugin of alerts. The list is a direct route (``api/direct_routes.py``)."""

from __future__ import annotations

from mindinsight.server.plugins import Plugin
from mindinsight.server.plugins.alert import rules

PLUGIN = Plugin(name="alert", router=rules.router)

"""Encoder of layouts: charts of scalars by category (Summary.Layout)."""

from typing import Any, Final

from mindinsight.writer.encoding import chart_layouts
from mindinsight.writer.encoding.encoder import MessageEncoder


class LayoutEncoder(MessageEncoder):
    """Encoder of dicts: category -> title -> ["Multiline", tags] or ["Margin", three tags]."""

    def serialised(self, value: Any) -> bytes:
        """Return the layout as a serialised message. Raises TypeError and ValueError like ``checked``."""
        return chart_layouts.encode(chart_layouts.checked(value))

    def facts(self, message: Any) -> dict[str, Any]:
        """Return the number of charts, as ``charts``."""
        return {"charts": sum(len(category.chart) for category in message.category)}


ENCODER: Final = LayoutEncoder("layout")

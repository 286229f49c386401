"""Messages of alerts for webhooks: generic JSON, Slack, Feishu, DingTalk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from mindinsight.server.settings.webhooks import WebhookFormat
from mindinsight.server.texts import message

_LINES: Final = 10  # alerts that one message spells out
_MARKS: Final = {"error": "🔴", "warning": "🟠", "info": "🔵"}

Alert = Mapping[str, Any]  # as ``alert_list`` has them


def webhook_body(
    style: WebhookFormat, alerts: Sequence[Alert], address: str, dropped: int = 0
) -> dict[str, Any]:
    """The JSON value to post: some alerts, the newest first, the server's address, and how many had no room.

    Slack: incoming webhooks, ``text``. Feishu: custom bots, ``msg_type``. DingTalk: custom robots,
    ``msgtype``. A robot that wants a keyword in each message finds ``MindInsight``.
    """
    if style == "json":
        listed = [dict(alert) for alert in alerts]
        return {"source": "MindInsight", "address": address, "alerts": listed, "left_out": dropped}
    text = plain_text(alerts, address, dropped)
    if style == "slack":
        return {"text": text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")}
    if style == "feishu":
        return {"msg_type": "text", "content": {"text": text}}
    return {"msgtype": "text", "text": {"content": text}}


def plain_text(alerts: Sequence[Alert], address: str, dropped: int = 0) -> str:
    """A line for each alert, up to ten of them, and the number of the others."""
    lines = [f"{_MARKS.get(alert['level'], '')} {alert['run']}: {_line(alert)}" for alert in alerts[:_LINES]]
    if more := max(0, len(alerts) - _LINES) + dropped:
        lines.append(message("alert.came_more", {"n": more}))
    return "\n".join(["MindInsight", *lines, f"{address}alert"])


def _line(alert: Alert) -> str:
    step = message("alert.step", {"step": alert["step"]})
    if not alert["condition"]:
        detail = f" – {alert['text']}" if alert["text"] else ""
        return f"{alert['title'] or message('alert.untitled', {})} ({step}){detail}"
    if alert["stray"]:
        if alert["stray"].get("other") is not None:
            return f"{alert['tag']}: {message('stray.pair', {'step': alert['step']})}"
        return f"{alert['tag']}: {alert['stray']['kind'].replace('_', ' ')} ({step})"
    limit = _number(alert["limit"])
    words = {"tag": alert["tag"], "value": _number(alert["value"]), "limit": limit}
    what = message(f"alert.found.{alert['condition']}", {**words, "n": 1 if limit == "1" else limit})
    return f"{what} ({step})"


def _number(value: float | str | None) -> str:
    return value if isinstance(value, str) else "–" if value is None else f"{value:.6g}"

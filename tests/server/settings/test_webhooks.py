"""Webhooks of the command line."""

from pathlib import Path

import pytest

from mindinsight.server.settings import Settings
from mindinsight.server.settings.webhooks import Webhook, webhook, webhooks


def test_a_webhook_has_a_format_or_is_generic() -> None:
    assert webhook("slack=https://hooks.slack.com/a?b=c") == Webhook("slack", "https://hooks.slack.com/a?b=c")
    assert webhook("http://127.0.0.1:1/x?token=1") == Webhook("json", "http://127.0.0.1:1/x?token=1")
    several = webhooks("feishu=https://a/1 dingtalk=https://b/2")
    assert [hook.format for hook in several] == ["feishu", "dingtalk"]
    assert webhooks("") == ()


@pytest.mark.parametrize("text", ["file:///etc/passwd", "slack=ftp://a/b", "teams=x", "http://", "hook"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="a webhook is"):
        webhook(text)


def test_its_secret_is_not_shown_and_it_outlives_the_way_to_a_daemon(tmp_path: Path) -> None:
    hook = webhook("slack=https://hooks.slack.com/secret")
    assert "secret" not in hook.shown
    settings = Settings(tmp_path, tmp_path, webhooks=(hook,))
    assert Settings.from_json(settings.to_json()) == settings

"""Names of executors: this machine, or the scheduler of a cluster."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from mindinsight.server.errors import BadSettings
from mindinsight.server.settings import (
    Settings,
    Webhook,
    check_cluster_package,
    scheduler_address,
    webhook,
    webhooks,
)


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


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("dask://scheduler:8786", "tcp://scheduler:8786"),
        ("dask+tls://10.0.0.1:1", "tls://10.0.0.1:1"),
        ("dask://[::1]:8786", "tcp://[::1]:8786"),
    ],
)
def test_an_address_is_given_in_the_form_of_dask(text: str, address: str) -> None:
    assert scheduler_address(text) == address


@pytest.mark.parametrize(
    "text", ["", "Local", "dask://a", "dask://a:0", "dask://a:65536", "ray://a:1", "dask://a b:1"]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is neither local nor an address such as dask://scheduler:8786"):
        scheduler_address(text)


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(BadSettings, match=r"pip install 'mindinsight\[cluster\]'"):
        check_cluster_package()

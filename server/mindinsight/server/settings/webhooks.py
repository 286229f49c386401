"""Webhooks: addresses that alerts are posted to, as the command line names them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args
from urllib.parse import urlsplit

WebhookFormat: TypeAlias = Literal["json", "slack", "feishu", "dingtalk"]
FORMATS: Final[tuple[WebhookFormat, ...]] = get_args(WebhookFormat)


@dataclass(frozen=True, slots=True)
class Webhook:
    """An address with the format of its messages. The address is a secret: whoever has it can post."""

    format: WebhookFormat
    url: str

    @property
    def shown(self) -> str:
        """The format and the host, for logs."""
        return f"{self.format} webhook of {urlsplit(self.url).hostname}"


def webhook(text: str) -> Webhook:
    """``slack=https://…``, or an address alone for generic JSON; ValueError for anything else."""
    name, separator, rest = text.partition("=")
    format_name = next((known for known in FORMATS if separator and name == known), None)
    address = rest if format_name else text
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"a webhook is [{'|'.join(FORMATS)}=]http(s)://HOST/…")
    return Webhook(format_name or "json", address)


def webhooks(text: str) -> tuple[Webhook, ...]:
    """Several, separated by blanks."""
    return tuple(webhook(part) for part in text.split())


def webhooks_of(fields: Iterable[dict[str, str]]) -> tuple[Webhook, ...]:
    """What ``dataclasses.asdict`` made of them."""
    return tuple(webhook(f"{field['format']}={field['url']}") for field in fields)

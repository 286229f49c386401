"""Names of executors: this machine, or the scheduler of a cluster."""

from __future__ import annotations

import importlib.util

import pytest

from mindinsight.server.errors import BadSettings
from mindinsight.server.settings.executors import check_cluster_package, scheduler_address


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
    with pytest.raises(ValueError, match=r"is not local nor an address such as dask://scheduler:8786"):
        scheduler_address(text)


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(BadSettings, match=r"pip install 'mindinsight\[cluster\]'"):
        check_cluster_package()

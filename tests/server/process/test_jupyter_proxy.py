"""The entry of Jupyter's launcher, as jupyter-server-proxy reads it."""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path

from mindinsight.server.commands.main import parser
from mindinsight.server.process.jupyter_proxy import setup


def test_the_command_is_one_of_ours_and_its_token_is_sent_along() -> None:
    entry = setup()
    arguments = entry["command"][entry["command"].index("start") :]
    options = parser("start").parse_args([argument.replace("{port}", "18080") for argument in arguments])
    assert (options.host, options.port, options.foreground) == ("127.0.0.1", 18080, True)
    token = entry["environment"]["MINDINSIGHT_TOKEN"]
    assert len(token) >= 32
    assert entry["request_headers_override"] == {"Authorization": f"Bearer {token}"}
    assert token not in entry["command"]  # other users see the arguments of a process
    assert setup()["environment"]["MINDINSIGHT_TOKEN"] != token


def test_the_icon_is_there_and_the_entry_point_names_the_function() -> None:
    assert Path(setup()["launcher_entry"]["icon_path"]).suffix == ".svg"
    (point,) = entry_points(group="jupyter_serverproxy_servers", name="mindinsight")
    assert point.value == "mindinsight.server.process.jupyter_proxy:setup"

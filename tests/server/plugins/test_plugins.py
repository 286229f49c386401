"""Plugins are found by the folder, all at once or by name."""

from mindinsight.server.plugins import find_plugin, plugin_names, plugins


def test_every_plugin_is_found_by_its_name() -> None:
    known = plugins()
    assert {"scalar", "graph", "dump"} <= {plugin.name for plugin in known}
    assert all(plugin.name in plugin_names() for plugin in known)
    assert all(find_plugin(plugin.name) is plugin for plugin in known)


def test_other_names_are_no_plugins() -> None:
    assert find_plugin("nothing") is None
    assert find_plugin("..settings") is None

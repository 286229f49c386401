"""The plugin a value names."""

from typing import Any

from mindinsight.server.formats.tensorboard.plugin_names import plugin_name


def test_the_name_is_read_and_damage_has_none(tf: Any) -> None:
    value = tf.field(1, b"tag") + tf.plugin("mesh", b"content")
    assert plugin_name(value) == "mesh"
    assert plugin_name(tf.field(1, b"tag")) == plugin_name(b"\xff") == plugin_name(b"") == ""

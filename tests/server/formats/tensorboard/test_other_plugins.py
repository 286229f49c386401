"""Embeddings named in the projector's file, as torch writes it."""

from typing import Any

from mindinsight.server.formats.tensorboard.other_plugins import Embedding, embeddings, plugin_name

BY_TORCH = """embeddings {
tensor_name: "words:00010"
tensor_path: "00010/words/tensors.tsv"
metadata_path: "00010/words/metadata.tsv"
sprite { image_path: "00010/words/sprite.png" single_image_dim: 8 }
}
embeddings {
tensor_name: "default"
}
"""


def test_names_steps_and_tables() -> None:
    first, second = embeddings(BY_TORCH)
    assert first == Embedding("words:00010", "00010/words/tensors.tsv")
    assert (first.tag, first.step) == ("words", 10)
    assert (second.tag, second.step, second.path) == ("default", None, "")
    assert (Embedding("model:words", "").tag, Embedding("model:words", "").step) == ("model:words", None)


def test_other_text_names_none() -> None:
    assert embeddings("embeddings {" * 1000 + "\0") == []


def test_the_name_is_read_and_damage_has_none(tf: Any) -> None:
    value = tf.field(1, b"tag") + tf.plugin("mesh", b"content")
    assert plugin_name(value) == "mesh"
    assert plugin_name(tf.field(1, b"tag")) == plugin_name(b"\xff") == plugin_name(b"") == ""

"""Embeddings named in the projector's file, as torch writes it."""

from mindinsight.server.formats.tensorboard.projector import Embedding, embeddings

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


def test_other_text_names_none() -> None:
    assert embeddings("embeddings {" * 1000 + "\0") == []

"""Names that mean the same in two runs."""

from mindinsight.server.store.paired_names import paired_tags, plain_name


def test_names_of_other_recorders_are_paired_where_that_is_unambiguous() -> None:
    assert paired_tags(["train/loss", "val/loss", "lr"], ["loss/train", "eval/loss", "learning_rate"]) == [
        ("train/loss", "loss/train"),
        ("val/loss", "eval/loss"),
        ("lr", "learning_rate"),
    ]
    assert paired_tags(["loss"], ["train/loss", "Loss"]) == []
    assert paired_tags(["val/loss"], ["test/loss"]) == []
    assert paired_tags(["batch", "opt"], ["batch_size", "optimizer"]) == [
        ("batch", "batch_size"),
        ("opt", "optimizer"),
    ]


def test_equal_names_are_paired_before_similar_ones() -> None:
    assert paired_tags(["loss", "train/loss"], ["loss"]) == [("loss", "loss")]


def test_a_name_of_decoration_only_stays() -> None:
    assert plain_name("Train") == "train"
    assert plain_name("Validation/Accuracy") == "val/acc"

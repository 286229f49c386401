"""Images of real runs."""

from typing import Any

LENET = {"train_id": "./lenet"}
IMAGE = {**LENET, "tag": "Image/image"}


def test_a_sample_of_images_unless_all_are_asked_for(v1: Any) -> None:
    path = "datavisual/image/metadata"
    sample, whole = v1.ok(path, **IMAGE)["metadatas"], v1.ok(path, **IMAGE, full="true")["metadatas"]
    assert len(sample) == 10 < len(whole)
    assert (sample[0], sample[-1]) == (whole[0], whole[-1])
    assert all(row in whole for row in sample)


def test_an_image_as_it_was_recorded(v1: Any) -> None:
    path = "datavisual/image/single-image"
    newest = v1.get(path, **IMAGE, step=-1)
    facts = v1.ok("datavisual/image/metadata", **IMAGE)["metadatas"][-1]
    assert newest.headers["content-type"] == "image/png"
    assert newest.headers["x-content-type-options"] == "nosniff"
    assert newest.content[:4] == b"\x89PNG"
    assert int.from_bytes(newest.content[16:20], "big") == facts["width"]
    assert v1.get(path, **IMAGE, step=facts["step"]).content == newest.content
    assert v1.fault(path, **IMAGE) == (400, "50540003")
    assert v1.fault(path, **IMAGE, step="x") == (400, "50540001")
    assert v1.fault(path, **IMAGE, step=10**9) == (400, "5054500D")

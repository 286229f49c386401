import hashlib
import io
import json
from pathlib import Path
from typing import Any

from PIL import Image

from mindinsight.server.http.responses import decode

EXPECTED = Path(__file__).parents[2] / "data" / "events" / "lenet" / "expected.json"


def known(tag: Any) -> Any:
    for file in json.loads(EXPECTED.read_text())["runs"]["."]["files"].values():
        for entry in file.get("tags", {}).get("image", []):
            if entry["tag"] == tag:
                return entry
    raise AssertionError(tag)


def test_all_steps_are_reachable_and_pictures_are_as_recorded(samples: Any) -> None:
    client = samples("lenet")
    image = known("Image")
    params = {"run": "./lenet", "tag": "Image"}
    steps = client.get("/v2/image/steps", params=params).json()
    assert decode(steps["step"]).tolist() == image["steps"]
    assert (steps["width"], steps["height"]) == (image["first"]["width"], image["first"]["height"])
    answer = client.get("/v2/image/picture", params={**params, "row": 0})
    assert answer.headers["content-type"] == "image/png"
    pixels = Image.open(io.BytesIO(answer.content)).tobytes()
    assert hashlib.sha256(pixels).hexdigest() == image["first"]["pixel_sha256"]


def test_unknown_rows_tags_and_runs_are_told(samples: Any) -> None:
    client = samples("lenet")
    for params in (
        {"run": "./lenet", "tag": "Image", "row": 9999},
        {"run": "./lenet", "tag": "x", "row": 0},
        {"run": "../..", "tag": "Image", "row": 0},
    ):
        answer = client.get("/v2/image/picture", params=params)
        assert answer.status_code == 404
        assert answer.json()["error"]["key"].startswith("error.")
    assert (
        client.get("/v2/image/picture", params={"run": "./lenet", "tag": "Image", "row": -1}).status_code
        == 422
    )

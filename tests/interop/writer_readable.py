"""Do the others read what we write? Runs real MindSpore and MindInsight on our files.

    python tests/interop/writer_readable.py --mindspore /envs/ms/bin/python --mindinsight /envs/mi/bin

Needs an environment with mindspore 2.10 and one with mindinsight 2.3.1 ("numpy<2" "pandas<2.2"
"marshmallow<4" "scikit-learn<1.5" "setuptools<70"). Prints one line for each thing checked; the status is
the number of failures.
"""

import argparse
import io
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import numpy as np
import written_runs as runs
from PIL import Image

from mindinsight.proto import graph_pb2

FAILURES = []


def check(what, value, expected):
    same = value == expected
    print(f"{'ok  ' if same else 'FAIL'} {what}")
    if not same:
        print(f"     found    {str(value)[:500]}\n     expected {str(expected)[:500]}")
        FAILURES.append(what)


def check_mindspore(python, base):
    """MindSpore's message classes find every value."""
    ran = subprocess.run(
        [python, Path(__file__).with_name("parsed_by_mindspore.py"), *runs.files_of(base)],
        check=True, stdout=subprocess.PIPE, text=True, cwd=base,
    )  # fmt: skip
    files = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
    kinds = [file for file in files if "/kinds/" in file["path"]]
    (lineage,) = [file["kinds"] for file in kinds if file["path"].endswith("_lineage")]
    check("MindSpore parses lineage", sorted(lineage), [
        "dataset_graph", "evaluation_lineage", "train_lineage", "user_defined_info"])  # fmt: skip
    (summary,) = [file for file in kinds if not file["path"].endswith("_lineage")]
    check("MindSpore parses every kind", summary["kinds"], {
        "version": 1, "graph_def": 1, "scalar_value": 3 * len(runs.SCALARS), "image": 6, "histogram": 3,
        "loss_landscape": 1, "unknown": 3 * len(runs.OURS)})  # fmt: skip
    types = {tag: number for file in files for tag, number in file["types"].items()}
    check("MindSpore sees every element type", types, {
        dtype: graph_pb2.DataType.Value(f"DT_{dtype.upper()}") for dtype in runs.TYPES})  # fmt: skip
    rolled = [file for file in files if "/rolled/" in file["path"]]
    numbers = [number for file in rolled for _, number in file["scalars"]]
    check("MindSpore reads files that follow one another", numbers, runs.ROLLED)
    check("the limit made several files", len(rolled) > 3, True)


class MindInsight:
    """A running server on a free port."""

    def __init__(self, binaries, base, workspace):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._command = str(Path(binaries) / "mindinsight")
        self._options = ["--summary-base-dir", base, "--workspace", workspace, "--reload-interval", "1"]
        self._environment = {**os.environ, "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}"}

    def __enter__(self):
        self._run("start", "--port", str(self.port), *self._options)
        return self

    def __exit__(self, *error):
        self._run("stop", "--port", str(self.port))

    def _run(self, *arguments):
        subprocess.run([self._command, *map(str, arguments)], check=True, env=self._environment)

    def ask(self, route, **query):
        with urllib.request.urlopen(self._request(route, query), timeout=30) as answer:
            return answer.read()

    def json(self, route, **query):
        return json.loads(self.ask(route, **query))

    def _request(self, route, query, body=None):
        address = f"http://127.0.0.1:{self.port}/v1/mindinsight/{route}"
        headers = {"Content-Type": "application/json"}
        return urllib.request.Request(f"{address}?{urllib.parse.urlencode(query)}", body, headers)

    def post(self, route, body):
        request = self._request(route, {}, json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read())

    def load(self, train_ids):
        """Have the runs read and wait until they are."""
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            try:
                self.post("datavisual/train-job-caches", {"train_ids": train_ids})
                jobs = self.json("datavisual/train-jobs", limit=100)["train_jobs"]
            except urllib.error.URLError:
                jobs = []
            if [job["cache_status"] for job in jobs] == ["CACHED"] * len(train_ids):
                return jobs
            time.sleep(1)
        raise TimeoutError(f"not loaded: {jobs}")


def check_mindinsight(server):
    """MindInsight's interface answers what was recorded."""
    types = {f"./types_{index // 6}" for index in range(len(runs.TYPES))}
    jobs = server.load(["./kinds", "./rolled", *types])
    check("MindInsight finds every run whole", [job["is_integrity"] for job in jobs], [True] * len(jobs))
    plugins = server.json("datavisual/plugins", train_id="./kinds")["plugins"]
    shown = {tag for tags in plugins.values() for tag in tags}
    check("MindInsight passes over kinds of ours", [tag for tag in shown if "of ours" in tag], [])
    for tag in runs.SCALARS:
        shown = numbers(server, "./kinds", tag)
        check(f"MindInsight shows scalars {tag}", shown, runs.numbers_shown(tag))
    check_pictures(server)
    check_tensors(server)
    check_other_kinds(server)
    check("MindInsight joins files that follow one another", numbers(server, "./rolled", "loss"), runs.ROLLED)


def numbers(server, train_id, tag):
    points = server.json("datavisual/scalar/metadata", train_id=train_id, tag=f"{tag}/scalar")
    return [point["value"] for point in points["metadatas"]]


def check_pictures(server):
    query = {"train_id": "./kinds", "tag": "picture/image"}
    steps = [point["step"] for point in server.json("datavisual/image/metadata", **query)["metadatas"]]
    check("MindInsight lists pictures", steps, [0, 1, 2])
    for step in steps:
        png = server.ask("datavisual/image/single-image", step=step, **query)
        with Image.open(io.BytesIO(png)) as picture:
            same = np.array_equal(np.asarray(picture), runs.picture_shown(step))
        check(f"MindInsight shows the pixels of step {step}", same, True)


def check_tensors(server):
    for index, dtype in enumerate(runs.TYPES):
        query = {"train_id": f"./types_{index // 6}", "tag": f"{dtype}/tensor"}
        answer = server.json("datavisual/tensors", detail="data", step=1, dims="[:,:]", **query)
        value = answer["tensors"][0]["values"][0]["value"]
        given = runs.tensor(dtype)
        given = given.asnumpy() if dtype == "bfloat16" else given
        check(f"MindInsight shows a {dtype} tensor", value["data"], given.astype(float).tolist())
        histograms = server.json(
            "datavisual/histograms", train_id=query["train_id"], tag=f"{dtype}/histogram"
        )["histograms"]  # fmt: skip
        check(f"MindInsight shows a histogram of {dtype}", len(histograms), 1)


def check_other_kinds(server):
    weights = server.json("datavisual/histograms", train_id="./kinds", tag="weights/histogram")["histograms"]
    check("MindInsight shows histograms", [entry["step"] for entry in weights], [0, 1, 2])
    (interval,) = server.json("datavisual/landscape/intervals", train_id="./kinds")["intervals"]
    check("MindInsight lists landscapes", interval["value"], [1, 5])
    (shown,) = server.json(
        "datavisual/landscape/landscapes", train_id="./kinds", interval_id=interval["id"]
    )["landscapes"]  # fmt: skip
    check("MindInsight shows a landscape", shown["points"]["z"], runs.LANDSCAPE)
    check("MindInsight shows its path", shown["path"]["intervals"], [1, 3, 5])
    (job,) = server.json("datavisual/single-job", train_id="./kinds", plugin_name="graph")["train_jobs"]
    nodes = server.json("datavisual/graphs/nodes", train_id="./kinds", tag=job["tags"][0], name="")["nodes"]
    check("MindInsight shows the graph", any("Default" in node["name"] for node in nodes), True)
    (row,) = server.post("lineagemgr/lineages", {})["object"]
    lineage = row["model_lineage"]
    expected = {"network": "LeNet", "optimizer": "Adam", "learning_rate": 0.5, "epoch": 2,
                "loss": 0.125, "metric": {"Accuracy": 0.75},
                "train_dataset_count": 40, "test_dataset_count": 10}  # fmt: skip
    check("MindInsight shows lineage", {name: lineage[name] for name in expected}, expected)
    check("MindInsight shows custom lineage", lineage["user_defined"], {
        "trial": 3, "rate": 0.25, "kind": "b", "large": float(1 << 40)})  # fmt: skip
    check("MindInsight shows the dataset", row["dataset_graph"]["children"][0]["op_type"], "MnistDataset")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mindspore", required=True, help="Python of an environment with MindSpore")
    parser.add_argument("--mindinsight", required=True, help="bin folder of an environment with MindInsight")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        base = Path(directory) / "base"
        runs.write(base)
        check_mindspore(chosen.mindspore, base)
        with MindInsight(chosen.mindinsight, base, Path(directory) / "workspace") as server:
            check_mindinsight(server)
    sys.exit(len(FAILURES))


if __name__ == "__main__":
    main()

#!/bin/bash
# Install a wheel or an sdist into a new environment and use it as on the first day.
#   bash docker/check-package.sh dist/mindinsight-3.0.0-py3-none-any.whl [PYTHON [REQUIREMENT ...]]
# Further requirements are installed beside it in one go, such as mindspore==2.10.0 numpy==1.26.4.
set -euo pipefail
package=$(realpath "$1")
python=${2:-python3}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$python" -m venv "$folder/venv"
bin=$folder/venv/bin
"$bin/pip" install --quiet "$package" "${@:3}"
if [[ " ${*:3}" == *" mindspore"* ]]; then # one process may import both, in either order
    "$bin/python" -c 'import mindspore, mindinsight.writer, mindinsight.proto.summary_pb2'
    "$bin/python" -c 'import mindinsight.writer, mindinsight.proto.summary_pb2, mindspore'
fi
cd "$folder"
"$bin/mindinsight" --version
"$bin/python" - <<'CODE'
import mindinsight
from mindinsight.writer import SummaryRecord

with SummaryRecord("summary/run") as record:
    for step in range(1, 4):
        record.add_value("scalar", "loss", 1 / step)
        record.record(step)
assert mindinsight.open("summary").scalars("loss")["./run", "loss"].steps.tolist() == [1, 2, 3]
CODE
port=$("$bin/python" -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$bin/mindinsight" start --summary-base-dir summary --workspace workspace --port "$port"
"$bin/python" - "$port" <<'CODE'
import json, sys, time, urllib.request

address = f"http://127.0.0.1:{sys.argv[1]}/"
read = lambda path: urllib.request.urlopen(address + path, timeout=30).read().decode()
for _ in range(100):
    if json.loads(read("v2/runs"))["runs"]:
        break
    time.sleep(0.1)
assert '"./run"' in read("v2/tags?kind=scalar&run=./run")
assert "/bundle/app.js" in read("scalar"), "the wheel has no bundle of scripts"
CODE
"$bin/mindinsight" stop --port "$port"
ls "$folder"/venv/lib/python*/site-packages/mindinsight*.dist-info/licenses/web/mindinsight/web/static/vendor/ | grep -q LICENSE
echo "$(basename "$package") works on $("$bin/python" -V)"

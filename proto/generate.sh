#!/usr/bin/env bash
# Regenerates *_pb2.py and *_pb2.pyi from the .proto files, byte for byte the same everywhere.
#
# protoc 25.1 (grpcio-tools 1.62.3) is pinned on purpose: code from it runs on every
# protobuf from 4.21 to 7, code from protoc 31 fails below 6. It needs Python 3.10-3.12.
set -euo pipefail
cd "$(dirname "$0")"
venv=${PROTO_VENV:-../.venv-proto}
out=${1:-.}
if [ ! -x "$venv/bin/python" ]; then
  python=python3
  for candidate in python3.12 python3.11 python3.10; do
    if "$candidate" -c '' 2>/dev/null; then python=$candidate; break; fi
  done
  "$python" -m venv "$venv"
  "$venv/bin/pip" install --quiet grpcio-tools==1.62.3 'setuptools<80'
fi
PATH="$venv/bin:$PATH" "$venv/bin/python" -m grpc_tools.protoc -I. --python_out="$out" --pyi_out="$out" mindinsight/proto/*.proto

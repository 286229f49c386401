#!/usr/bin/env bash
# Runs our writer inside the real frameworks, the examples, and real MindInsight on what was written.
#
#   bash tests/interop/frameworks.sh [torch] [msprobe] [jax] [mindspore] [compared] [mindinsight] [loops] [tensorboard] [trained]
#
# Each has an environment of its own in $ENVIRONMENTS/venv-<name>, made when it is missing.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
environments=${ENVIRONMENTS:-$root/.venv-interop}
python=${PYTHON:-python3}
declare -A packages=(
    [torch]="torch==2.13.0 numpy protobuf google-crc32c"
    [msprobe]="torch==2.13.0 mindstudio-probe==26.2.0 numpy protobuf google-crc32c"
    [jax]="jax jaxlib protobuf google-crc32c"
    [mindspore]="mindspore==2.10.0 numpy<2 protobuf google-crc32c"
    [compared]="mindspore==2.10.0 mindstudio-probe==26.2.0 numpy<2 protobuf google-crc32c"
    [loops]="torch==2.13.0 tensorboard==2.21.0 lightning pytorch-lightning transformers accelerate keras jax
        pytorch-ignite matplotlib pillow numpy protobuf google-crc32c"
    [tensorboard]="torch==2.13.0 tensorboard==2.21.0 tensorboardX==2.6.5 pillow numpy"
    [trained]="torch==2.13.0 lightning keras tensorflow-cpu tensorboard==2.21.0 pillow numpy"
    [mindinsight]="mindinsight==2.3.1 numpy<2 pandas<2.2 marshmallow<4 scikit-learn<1.5 setuptools<70"
)
declare -A scripts=(
    [torch]="in_torch training_in_torch recording_in_torch sharded_in_torch
        tensor_kinds_in_torch flight_in_torch flight_crashes planted_in_torch healthy_in_torch"
    [msprobe]="probing_in_torch"
    [jax]="in_jax arrays_of_jax callbacks_in_jax"
    [mindspore]="in_mindspore training_in_mindspore recording_in_mindspore probing_in_mindspore
        documents_in_mindspore"
    [compared]="compared_in_mindspore"
    [loops]="summary_writer_in_torch loggers_in_frameworks flight_in_frameworks documents_in_torch"
)
runs=$(mktemp -d)
trap 'rm -rf "$runs"' EXIT

environment() {
    if [ ! -x "$environments/venv-$1/bin/python" ]; then
        "$python" -m venv "$environments/venv-$1"
        # shellcheck disable=SC2086 # several packages
        "$environments/venv-$1/bin/pip" install --quiet ${packages[$1]}
    fi
}

for name in ${*:-torch msprobe jax loops mindspore compared mindinsight tensorboard trained}; do
    environment "$name"
    if [ "$name" = tensorboard ] || [ "$name" = trained ]; then # their files, and what TensorBoard reads
        script=$([ "$name" = trained ] && echo trained_in_tensorboard || echo in_tensorboard)
        "$environments/venv-$name/bin/python" "$root/tests/interop/$script.py" "$runs/$name"
        "$root/.venv/bin/python" "$root/tests/interop/tensorboard_difference.py" "$runs/$name"
        continue
    fi
    if [ "$name" = mindinsight ]; then
        environment mindspore
        "$root/.venv/bin/python" "$root/tests/interop/writer_readable.py" \
            --mindspore "$environments/venv-mindspore/bin/python" --mindinsight "$environments/venv-mindinsight/bin"
        continue
    fi
    for script in ${scripts[$name]}; do
        PYTHONPATH=$root/proto:$root/writer "$environments/venv-$name/bin/python" "$root/tests/interop/$script.py"
    done
    [ "$name" != loops ] && [ "$name" != msprobe ] && [ "$name" != compared ] || continue  # no example of their own
    PYTHONPATH=$root/proto:$root/writer "$environments/venv-$name/bin/python" \
        "$root/examples/${name}_train.py" --out "$runs/$name"
    if [ "$name" = mindspore ]; then
        "$root/.venv/bin/python" "$root/tests/interop/ranks_in_mindspore.py" \
            --mindspore "$environments/venv-mindspore/bin/python"
        "$root/.venv/bin/python" "$root/tests/interop/tuning_in_mindspore.py" \
            --mindspore "$environments/venv-mindspore/bin/python"
    fi
done

"""Arrays and a tree of parameters of JAX.

    PYTHONPATH=proto:writer /envs/jax/bin/python tests/interop/arrays_of_jax.py

Needs jax, google-crc32c and protobuf. Ends with a traceback at the first thing amiss.
"""

import tempfile

import jax
import jax.numpy as jnp
import reading

from mindinsight.writer.collector.collected_facts import parameters
from mindinsight.writer.record import SummaryRecord

TYPES = ["bfloat16", "float16", "float32", "int32", "uint8", "bool", "float8_e4m3fn", "int4"]


def arrays(run):
    with SummaryRecord(run) as record:
        for dtype in TYPES:
            value = jnp.arange(6).reshape(1, 1, 2, 3).astype(dtype)
            for plugin in ("tensor", "histogram", "image"):
                record.add_value(plugin, dtype, value)
            record.add_value("scalar", dtype, value.reshape(-1)[1])
        record.record(1)
    for _, value in reading.values(run):
        if value.HasField("tensor"):
            expected = [0, 1, 1, 1, 1, 1] if value.tag == "bool" else [0, 1, 2, 3, 4, 5]
            assert list(value.tensor.float_data) == expected, value
    assert len(reading.values(run)) == 4 * len(TYPES)


def tree():
    network = {"dense": {"kernel": jnp.ones((2, 3)), "bias": jnp.zeros(3)}}
    assert [name for name, _ in parameters(network, None)] == ["dense/kernel", "dense/bias"]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        arrays(temporary)
        tree()
        print(f"ok   JAX {jax.__version__}: arrays of every type, a tree of parameters")

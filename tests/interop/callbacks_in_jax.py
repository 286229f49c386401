"""What ``jax.debug.callback`` gives of named values: why our recorder of operators has no part for JAX.

Run with a Python that has jax. ``docs/dumps.md`` draws the conclusions from what is held here.
"""

import json
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

WEIGHT, BATCH = jnp.ones((2, 2)), jnp.ones((3, 2))


class Tap:
    """Names of values, in the order in which they arrive, with their shapes."""

    def __init__(self, ordered):
        self.ordered = ordered
        self.seen = []

    def __call__(self, name, value):
        jax.debug.callback(lambda host: self.seen.append((name, np.shape(host))), value, ordered=self.ordered)
        return value

    def network(self, weight, x):
        return self("loss", (self("hidden", x @ weight) ** 2).sum())

    def carry(self, value, _):
        return self("carry", value + 1), None

    def run(self, function, *arguments):
        self.seen = []
        result = function(*arguments)
        jax.effects_barrier()
        return result, self.seen


def main():
    once = [("hidden", (3, 2)), ("loss", ())]
    for ordered in (False, True):
        tap = Tap(ordered)
        plain = jax.grad(lambda w, x: ((x @ w) ** 2).sum())(WEIGHT, BATCH)
        for function in (jax.jit(tap.network), jax.grad(tap.network), jax.jit(jax.grad(tap.network))):
            result, seen = tap.run(function, WEIGHT, BATCH)
            assert sorted(seen) == once, seen  # values of the forward pass; no gradients
            if result.shape:
                assert result.tobytes() == plain.tobytes()
        _, seen = tap.run(jax.jit(jax.vmap(tap.network, (None, 0))), WEIGHT, jnp.ones((4, 3, 2)))
        assert sorted(seen) == sorted(once * 4), seen  # elements of the batch by themselves, without a place
        _, seen = tap.run(partial(jax.lax.scan, tap.carry, 0.0, None, length=3))
        assert seen == [("carry", ())] * 3, seen
        _, seen = tap.run(jax.jit(jax.grad(jax.checkpoint(tap.network))), WEIGHT, BATCH)
        assert sorted(seen) == sorted(once * 2), seen  # again, and not told from the first
        if ordered:
            assert seen == once * 2, seen
    print(json.dumps({"callbacks in jax": jax.__version__, "ok": True}))


if __name__ == "__main__":
    main()

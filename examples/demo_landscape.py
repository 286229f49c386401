"""The loss around the way a training took, for demo.py."""

import numpy as np

from mindinsight.writer.landscape import axis, loss_landscape, plane_of_path


def landscape(network, path, images, labels, size=25):
    """The loss in the plane in which the weights moved most; ``path`` is a list of (step, weights)."""
    steps = [step for step, _ in path]
    plane = plane_of_path([weights for _, weights in path])

    def loss_at(x, y):
        return network.loss_at(plane.at(x, y), images, labels)

    places = np.array([plane.coordinates(weights) for _, weights in path]).T
    losses = [network.loss_at(weights, images, labels) for _, weights in path]
    x, y = (axis(list(values), size) for values in places)
    return loss_landscape(
        x,
        y,
        [[loss_at(a, b) for a in x] for b in y],
        path=(*places, losses),
        intervals=steps,
        convergence=(0.0, 0.0, losses[-1]),
        step_per_epoch=100,
    )

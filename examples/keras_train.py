"""Keras 3: a callback for fit, on the backends of torch and JAX (KERAS_BACKEND).

KERAS_BACKEND=torch python keras_train.py
mindinsight start --summary-base-dir runs
"""

import argparse

import keras
import numpy as np

from mindinsight.writer.integrations.keras import MindInsightCallback


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--out", default="runs/keras")
    chosen = options.parse_args()
    keras.utils.set_random_seed(0)
    layers = [keras.Input((4,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)]
    model = keras.Sequential(layers, name="line")
    model.compile("adam", loss="mse", metrics=["mae"])
    x = np.random.default_rng(0).normal(size=(512, 4)).astype(np.float32)
    gradients_every = 16 if keras.config.backend() == "torch" else 0
    recording = MindInsightCallback(
        chosen.out, batches_every=4, weights_every=1, gradients_every=gradients_every
    )
    model.fit(x, x.sum(1, keepdims=True), epochs=4, validation_split=0.2, callbacks=[recording], verbose=0)


if __name__ == "__main__":
    main()

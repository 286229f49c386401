"""Prediction of runs by the trees that have not drawn them."""

import numpy as np

from mindinsight.server.curves.random_forest import binned, grow


def test_a_bend_is_learnt_and_noise_is_not() -> None:
    generator = np.random.default_rng(1)
    matrix = generator.uniform(-1, 1, (200, 4))
    bins = binned(matrix)
    target = matrix[:, 2] ** 2
    predicted = grow(bins, target, generator).predict_unseen(bins)
    assert np.corrcoef(predicted, target)[0, 1] > 0.85
    noise = generator.normal(size=200)
    assert np.corrcoef(grow(bins, noise, generator).predict_unseen(bins), noise)[0, 1] < 0.3


def test_bins_keep_the_order_and_few_values_keep_their_own() -> None:
    column = np.array([3.0, 1.0, 2.0, 1.0])
    assert binned(column[:, None])[:, 0].tolist() == [2, 0, 1, 0]
    many = binned(np.arange(1000.0)[:, None])[:, 0]
    assert (np.diff(many) >= 0).all()
    assert len(np.unique(many)) == 12


def test_equal_columns_and_few_runs_make_no_split() -> None:
    bins = np.zeros((4, 2), np.int64)
    predicted = grow(bins, np.arange(4.0), np.random.default_rng(0)).predict_unseen(bins)
    assert np.nanmax(predicted) < 3

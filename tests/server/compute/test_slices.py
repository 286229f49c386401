from typing import Any

import numpy as np
import pytest

from mindinsight.server.compute.slices import Table, first_slice, parse_slice

ARRAY = np.arange(24).reshape(2, 3, 4)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[0,:,:]", ARRAY[0]),
        ("[ -1 , 1:3 , ::2 ]", ARRAY[-1, 1:3, ::2]),
        ("[0,0,0]", ARRAY[0, 0, 0]),
        ("[:,2,-3:-1]", ARRAY[:, 2, -3:-1]),
        ("[1,::-1,0]", ARRAY[1, ::-1, 0]),
    ],
)
def test_dims_mean_what_python_means(text: str, expected: Any) -> None:
    assert np.array_equal(ARRAY[parse_slice(text, ARRAY.shape)], expected)


def test_a_scalar_tensor_has_empty_dims() -> None:
    assert parse_slice("[]", ()) == ()


@pytest.mark.parametrize(
    "text",
    ["0,:,:", "[a,:,:]", "[:,:,:]", "[0,:]", "[5,:,:]", "[0,-4,:]", "[0,::0,:]", "[0,1.5,:]", "[0,,:]", "["],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"brackets|entries|slice|index|integer"):
        parse_slice(text, ARRAY.shape)


@pytest.mark.parametrize("shape", [(), (5,), (3, 4), (2, 3, 4), (1, 2, 3, 4)])
def test_the_first_look_is_at_the_last_two_dimensions(shape: Any) -> None:
    part = np.zeros(shape)[parse_slice(first_slice(shape), shape)]
    assert part.shape == shape[-2:]


@pytest.mark.parametrize("most", [1, 3, 5, 100])
@pytest.mark.parametrize(
    "dims",
    ["[0,:,:]", "[-1,1:3,::2]", "[:,::-1,0]", "[1,2,::-1]", "[0,0,0]", "[:,1,3]", "[2:,:,0]", "[:,0,3:1]"],
)
def test_blocks_of_a_table_are_the_slice_in_order(dims: str, most: int) -> None:
    table = Table(ARRAY.shape, parse_slice(dims, ARRAY.shape))
    whole = ARRAY[table.index]
    assert (table.rows, table.columns) == (*whole.shape, 1, 1)[:2]
    blocks = [ARRAY[index].reshape(table.shape_of(index)) for index in table.blocks(most)]
    assert all(block.size <= most for block in blocks)
    flat = np.concatenate([np.empty(0, int), *(block.ravel() for block in blocks)])
    assert flat.tolist() == whole.ravel().tolist()


@pytest.mark.parametrize("dims", ["[0,:,:]", "[:,::-1,0]", "[1,2,::-2]", "[0,0,0]"])
def test_a_window_of_a_table_is_cut_from_the_slice(dims: str) -> None:
    table = Table(ARRAY.shape, parse_slice(dims, ARRAY.shape))
    whole = ARRAY[table.index].reshape(table.rows, table.columns)
    windows = [(slice(0, 2), slice(1, 3)), (slice(1, None), slice(None)), (slice(9, 12), slice(5))]
    for rows, columns in windows:
        index = table.window(rows, columns)
        if ARRAY[table.index].ndim == 2:
            assert ARRAY[index].tolist() == whole[rows, columns].tolist()
        elif ARRAY[table.index].ndim == 1:
            assert ARRAY[index].tolist() == whole[rows, 0].tolist()


def test_only_all_of_an_array_is_the_whole_of_it() -> None:
    assert Table((3, 4), (slice(None), slice(0, 9))).whole
    assert not Table((3, 4), (slice(None), slice(None, None, -1))).whole
    assert not Table((3, 4), (slice(None), 0)).whole
    assert not Table((3, 4), (slice(1, None), slice(None))).whole

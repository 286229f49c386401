import numpy as np
import pytest

from mindinsight.server.slices import first_slice, parse_slice

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
def test_dims_mean_what_python_means(text, expected):
    assert np.array_equal(ARRAY[parse_slice(text, ARRAY.shape)], expected)


def test_a_scalar_tensor_has_empty_dims():
    assert parse_slice("[]", ()) == ()


@pytest.mark.parametrize(
    "text",
    ["0,:,:", "[a,:,:]", "[:,:,:]", "[0,:]", "[5,:,:]", "[0,-4,:]", "[0,::0,:]", "[0,1.5,:]", "[0,,:]", "["],
)
def test_anything_else_is_refused(text):
    with pytest.raises(ValueError, match=r"brackets|entries|slice|index|integer"):
        parse_slice(text, ARRAY.shape)


@pytest.mark.parametrize("shape", [(), (5,), (3, 4), (2, 3, 4), (1, 2, 3, 4)])
def test_the_first_look_is_at_the_last_two_dimensions(shape):
    part = np.zeros(shape)[parse_slice(first_slice(shape), shape)]
    assert part.shape == shape[-2:]

"""The wire format, byte by byte as openpi's description and msgpack's specification give it."""

import msgpack
import numpy as np
import pytest

from mimicik_ros.ros.openpi.wire import WireError, pack, unpack

# fixmap of 4; each key is bin8: c4, length, text.
ARRAY = (b"\x84" b"\xc4\x0b__ndarray__\xc3" b"\xc4\x04data\xc4\x08\x00\x00\x80\x3f\x00\x00\x00\xc0"
         b"\xc4\x05dtype\xa3<f4" b"\xc4\x05shape\x92\x01\x02")
SCALAR = b"\x83" b"\xc4\x0d__npgeneric__\xc3" b"\xc4\x04data\x07" b"\xc4\x05dtype\xa3<i4"


def test_an_array_is_four_binary_keys():
    assert pack(np.array([[1.0, -2.0]], np.float32)) == ARRAY
    read = unpack(ARRAY)
    assert read.dtype == np.float32
    assert read.tolist() == [[1.0, -2.0]]


def test_a_numpy_scalar_is_three_binary_keys():
    assert pack(np.int32(7)) == SCALAR
    assert unpack(SCALAR) == 7
    assert unpack(SCALAR).dtype == np.int32


def test_text_numbers_lists_and_maps_are_plain_msgpack():
    assert pack({"prompt": "go", "n": [1, True, None]}) == b"\x82\xa6prompt\xa2go\xa1n\x93\x01\xc3\xc0"


@pytest.mark.parametrize("dtype", ["u1", "i8", "<f2", ">f4", "f8", "?", "U3"])
def test_an_array_comes_back_with_type_shape_and_values(dtype):
    array = np.arange(6).reshape(3, 2).astype(dtype)
    read = unpack(pack({"a": array}))["a"]
    assert read.dtype == array.dtype
    assert np.array_equal(read, array)


def test_an_array_that_is_a_view_is_sent_in_order_of_its_indices():
    array = np.arange(6).reshape(2, 3).T[::-1]
    assert unpack(pack(array)).tolist() == [[2, 5], [1, 4], [0, 3]]


@pytest.mark.parametrize("value", [np.array([object()]), np.array([1j]), np.zeros(1, [("a", "i4")]), object(), {1, 2}, 2**70])
def test_what_has_no_form_is_refused_before_anything_is_sent(value):
    with pytest.raises(WireError, match="cannot be sent"):
        pack({"x": value})


@pytest.mark.parametrize("data", [
    b"", b"\x81", b"\xc1", ARRAY + b"\x00", ARRAY.replace(b"\x92\x01\x02", b"\x92\x01\x03"), ARRAY.replace(b"<f4", b"|O8"),
    ARRAY.replace(b"<f4", b"\xff\xff\xff"), ARRAY.replace(b"data", b"dada"), b"\x91" * 5000 + b"\x01",
], ids=["empty", "cut", "reserved", "more", "shape", "object", "no text", "no data", "deep"])
def test_bytes_that_are_no_message_are_refused_and_run_no_code(data):
    with pytest.raises(WireError, match="not a message"):
        unpack(data)


def test_the_package_openpi_client_writes_the_same_bytes_and_reads_ours():
    theirs = pytest.importorskip("openpi_client.msgpack_numpy", reason="openpi-client pins numpy < 2: .ci/run installs it aside")
    for value in ({"observation/state": np.arange(7.0), "prompt": "go", "k": np.float32(0.5)}, np.zeros((2, 3), np.uint8)):
        assert pack(value) == theirs.packb(value)
        assert theirs.packb(theirs.unpackb(pack(value))) == pack(value)
    assert msgpack.unpackb(pack(np.int32(7)), object_hook=theirs.unpack_array).dtype == np.int32

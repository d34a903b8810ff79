"""openpi's wire format: msgpack, with numpy arrays and scalars as maps of binary keys. Nothing here can run code of the peer.

An array is {b"__ndarray__": true, b"data": its bytes in C order, b"dtype": like "<f4", b"shape": list}, a scalar
{b"__npgeneric__": true, b"data": value, b"dtype": ...}; strings, numbers, lists and maps are plain msgpack.
"""

from __future__ import annotations

from typing import Any

import msgpack
import numpy as np

_KINDS = "biufSUmM"  # neither objects, which would need pickle, nor structures and complex numbers, which openpi refuses too


class WireError(Exception):
    """A value that the format has no form for, or bytes that are not of the format."""


def pack(value: Any) -> bytes:
    """Value of dicts, lists, str, bytes, numbers, None and numpy as one message.

    Raises:
        WireError: something in it has no form.
    """
    try:
        data: bytes = msgpack.packb(value, default=_encode)
    except (TypeError, ValueError, OverflowError) as error:
        raise WireError(f"cannot be sent: {error}") from error
    return data


def unpack(data: bytes) -> Any:
    """The value of one message; arrays are read-only views of data.

    Raises:
        WireError: data is no such message.
    """
    try:
        return msgpack.unpackb(data, object_hook=_decode)
    except (msgpack.UnpackException, ValueError, TypeError, KeyError, RecursionError) as error:
        raise WireError(f"not a message of openpi's format: {error!r}") from error


def _encode(value: Any) -> Any:
    if not isinstance(value, (np.ndarray, np.generic)):
        raise TypeError(f"{type(value).__name__} has no form in msgpack")
    if value.dtype.kind not in _KINDS:
        raise ValueError(f"numpy type {value.dtype} has no form on the wire")
    if isinstance(value, np.ndarray):
        return {b"__ndarray__": True, b"data": value.tobytes(), b"dtype": value.dtype.str, b"shape": value.shape}
    return {b"__npgeneric__": True, b"data": value.item(), b"dtype": value.dtype.str}


def _decode(fields: dict[Any, Any]) -> Any:
    if b"__ndarray__" in fields:
        array = np.frombuffer(fields[b"data"], dtype=_dtype(fields))
        return array.reshape(fields[b"shape"])
    if b"__npgeneric__" in fields:
        return _dtype(fields).type(fields[b"data"])
    return fields


def _dtype(fields: dict[Any, Any]) -> np.dtype[Any]:
    dtype: np.dtype[Any] = np.dtype(fields[b"dtype"])
    if dtype.kind not in _KINDS:
        raise ValueError(f"numpy type {dtype} is refused")
    return dtype

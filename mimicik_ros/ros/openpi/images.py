"""Camera messages as openpi policies take them: (size, size, 3) uint8 RGB, the aspect kept and the rest black."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from PIL import Image as Picture
from sensor_msgs.msg import CompressedImage, Image

# encoding -> channels in memory, and which of them are red, green and blue
_ENCODINGS = {"rgb8": (3, [0, 1, 2]), "bgr8": (3, [2, 1, 0]), "rgba8": (4, [0, 1, 2]), "bgra8": (4, [2, 1, 0]),
              "mono8": (1, [0, 0, 0])}

Pixels = np.ndarray[Any, np.dtype[np.uint8]]


class ImageError(Exception):
    """An image that cannot be read; the message says why."""


def rgb(message: Image | CompressedImage) -> Pixels:
    """Pixels (height, width, 3) of a raw or compressed (JPEG, PNG) image.

    Raises:
        ImageError: an encoding that is no 8-bit colour or grey, too little data, or a broken file.
    """
    if isinstance(message, CompressedImage):
        try:
            return np.asarray(Picture.open(io.BytesIO(bytes(message.data))).convert("RGB"))
        except OSError as error:
            raise ImageError(f"a compressed image ({message.format!r}) cannot be read: {error}") from error
    if message.encoding not in _ENCODINGS:
        raise ImageError(f"encoding '{message.encoding}' is none of {', '.join(_ENCODINGS)}")
    channels, order = _ENCODINGS[message.encoding]
    row = message.width * channels
    data = np.frombuffer(message.data, np.uint8)
    if not row or message.step < row or data.size < message.step * message.height or not message.height:
        raise ImageError(f"{message.width} x {message.height} pixels of {message.encoding} do not fit into {data.size} bytes "
                         f"with {message.step} a row")
    lines = data[:message.step * message.height].reshape(message.height, message.step)[:, :row]  # rows may be padded
    pixels: Pixels = lines.reshape(message.height, message.width, channels)[..., order]
    return pixels


def fit(pixels: Pixels, size_px: int) -> Pixels:
    """Pixels (h, w, 3) scaled to fit (size_px, size_px, 3), centred on black."""
    height, width = pixels.shape[:2]
    scale = size_px / max(height, width)
    w, h = max(1, round(width * scale)), max(1, round(height * scale))
    canvas = np.zeros((size_px, size_px, 3), np.uint8)
    top, left = (size_px - h) // 2, (size_px - w) // 2
    picture = Picture.fromarray(np.ascontiguousarray(pixels))
    canvas[top:top + h, left:left + w] = np.asarray(picture.resize((w, h), Picture.Resampling.BILINEAR))
    return canvas

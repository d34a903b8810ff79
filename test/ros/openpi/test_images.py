"""Camera messages to pixels, value by value."""

import io

import numpy as np
import pytest
from PIL import Image as Picture
from sensor_msgs.msg import CompressedImage, Image

from mimicik_ros.ros.openpi.images import ImageError, fit, rgb

RED, GREEN = [255, 0, 0], [0, 255, 0]


@pytest.mark.parametrize(("encoding", "data", "pixels"), [
    ("rgb8", [*RED, *GREEN], [RED, GREEN]),
    ("bgr8", [0, 0, 255, 0, 255, 0], [RED, GREEN]),
    ("rgba8", [*RED, 9, *GREEN, 9], [RED, GREEN]),
    ("bgra8", [0, 0, 255, 9, 0, 255, 0, 9], [RED, GREEN]),
    ("mono8", [7, 200], [[7] * 3, [200] * 3]),
])
def test_two_pixels_of_every_encoding(encoding, data, pixels):
    for padding in (0, 3):  # rows may be longer than their pixels
        row = [*data, *[77] * padding]
        image = Image(width=2, height=2, encoding=encoding, step=len(row), data=row * 2)
        assert rgb(image).tolist() == [pixels, pixels]


@pytest.mark.parametrize("kind", ["png", "jpeg"])
def test_a_compressed_image_is_read_in_rgb(kind):
    file = io.BytesIO()
    Picture.new("RGB", (16, 8), (250, 10, 20)).save(file, kind)
    pixels = rgb(CompressedImage(format=kind, data=file.getvalue()))
    assert pixels.shape == (8, 16, 3)
    assert np.abs(pixels.astype(int) - [250, 10, 20]).max() <= 3


@pytest.mark.parametrize(("message", "text"), [
    (Image(width=1, height=1, encoding="16UC1", step=2, data=[0, 0]), "encoding '16UC1' is none of rgb8"),
    (Image(width=2, height=2, encoding="rgb8", step=6, data=[0] * 11), "do not fit into 11 bytes"),
    (Image(width=2, height=1, encoding="rgb8", step=5, data=[0] * 6), "with 5 a row"),
    (Image(encoding="rgb8"), "0 x 0 pixels"),
    (CompressedImage(format="jpeg", data=[1, 2, 3]), "cannot be read"),
])
def test_what_is_no_image_is_refused(message, text):
    with pytest.raises(ImageError, match=text):
        rgb(message)


def test_a_wide_image_is_scaled_and_centred_between_black_bars():
    out = fit(np.full((100, 200, 3), 90, np.uint8), 224)
    assert out.shape == (224, 224, 3)
    assert out.dtype == np.uint8
    assert (out[56:168] == 90).all()  # 224 x 112, 56 above and below
    assert not out[:56].any() and not out[168:].any()


def test_a_tall_image_has_its_bars_at_the_sides():
    out = fit(np.full((40, 10, 3), 90, np.uint8), 80)
    assert (out[:, 30:50] == 90).all()
    assert not out[:, :30].any() and not out[:, 50:].any()


def test_left_stays_left():
    out = fit(np.concatenate([np.full((4, 4, 3), 200, np.uint8), np.zeros((4, 4, 3), np.uint8)], axis=1), 8)
    assert out[4, 0, 0] == 200
    assert out[4, 7, 0] == 0

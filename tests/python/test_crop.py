"""Crops, and pipelines whose pictures change their size."""

from __future__ import annotations

import numpy as np
import pytest
import satin


@pytest.fixture
def image(random):
    return random.integers(0, 256, (30, 40, 3), np.uint8)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_a_box_is_a_slice(random, dtype):
    image = (random.random((2, 30, 40, 3)) * 255).astype(dtype)
    for box in [(5, 3, 20, 16), (np.int64(5), 3, 20, 16), "5,3,20,16", ("12.5%", "10%", 20, 16)]:
        assert np.array_equal(satin.crop(image, box=box), image[:, 3:19, 5:25])


def test_an_aspect_is_a_pair_or_a_text(image):
    for aspect in [(1, 1), (2.0, 2), "1:1"]:
        assert np.array_equal(satin.crop(image, aspect=aspect), image[:, 5:35])
    assert np.array_equal(satin.crop(image, aspect=(1, 1), gravity="west"), image[:, :30])
    assert np.array_equal(satin.crop(image, aspect=(1, 1), gravity=("100%", 0)), image[:, 10:])


def test_refusals_speak_python(image):
    with pytest.raises(ValueError, match=r"box=\(X, Y, W, H\).*aspect='A:B'"):
        satin.crop(image)
    with pytest.raises(ValueError, match="40 x 30"):
        satin.crop(image, box=(30, 0, 11, 5))
    with pytest.raises(TypeError, match="box"):
        satin.crop(image, box=object())


def test_inputs_follow_the_picture(image, random):
    mask = random.integers(0, 256, (30, 40), np.uint8)
    steps = "crop box=5,3,20,16 | blur radius=2 mask=m"
    expected = satin.blur(image[3:19, 5:25], 2, mask=np.ascontiguousarray(mask[3:19, 5:25]))
    assert np.array_equal(satin.run(steps, image, inputs={"m": mask}), expected)
    small = satin.resize(mask, (20, 15), fit="stretch", kernel="area", space="encoded")
    expected = satin.blur(satin.resize(image, 20), 2, mask=small)
    assert np.array_equal(satin.run("resize size=20 | blur radius=2 mask=m", image, inputs={"m": mask}), expected)


def test_dask_refuses_other_sizes(image):
    array = pytest.importorskip("dask.array")
    import satin.dask

    for steps in ("crop box=0,0,9000,9000", "blur radius=1 | resize size=20"):
        with pytest.raises(ValueError, match="changes the size"):
            satin.dask.map(steps, array.from_array(image, chunks=(10, 10, 3)))

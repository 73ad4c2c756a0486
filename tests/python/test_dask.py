"""Arrays of Dask: the bytes do not depend on the chunks."""
import inspect

import numpy as np
import pytest

import satin

pytest.importorskip("dask.array", reason="dask is not installed: pip install 'satin-image[dask]'")
import dask.array  # noqa: E402

import satin.dask  # noqa: E402


def random_chunks(random, size):
    """Lengths that add up to the size, some as short as 1."""
    cuts = np.unique(random.integers(1, size, random.integers(0, 7)))
    return tuple(int(each) for each in np.diff([0, *cuts, size]))


PIPELINES = ["blur radius=3", "blur sigma=2.5", "blur radius=4.25 border=reflect space=encoded", "median radius=2",
             "erode radius=2x5", "blur radius=2 | unsharp radius=3 amount=0.5", "threshold method=sauvola window=9",
             "guided radius=3"]  # fmt: skip


@pytest.mark.parametrize("seed", range(20))
def test_chunks_make_no_difference(seed):
    random = np.random.default_rng(seed)
    dtype = np.uint16 if seed % 3 == 0 else np.uint8
    shape = (61, 83, 3) if seed % 2 else (61, 83)
    image = random.integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)
    pipeline = PIPELINES[seed % len(PIPELINES)]
    chunks = tuple(random_chunks(random, size) for size in shape)
    made = satin.dask.map(pipeline, dask.array.from_array(image, chunks), device="cpu")
    expected = satin.run(pipeline, image, device="cpu")
    assert made.shape == expected.shape and made.dtype == expected.dtype
    np.testing.assert_array_equal(made.compute(scheduler="threads"), expected)


SIDES = ["blur radius=3 mask=m | unsharp radius=2 amount=0.5", "blur radius-map=r radius-max=6", "median radius=2 mask=m",
         "guided radius=3 guide=g", "blur radius-map=r radius-max=5 mask=m", "edge-smooth guide=g"]  # fmt: skip


@pytest.mark.parametrize("seed", range(10))
def test_side_inputs_are_cut_as_the_picture_is(seed):
    random = np.random.default_rng(seed)
    shape = (61, 83, 3) if seed % 2 else (61, 83)
    image = random.integers(0, 256, shape, np.uint8)
    pipeline = SIDES[seed % (len(SIDES) - 1)]
    names = [name for name in "mrg" if f"={name}" in pipeline]
    sides = {name: random.integers(0, 256, (61, 83), np.uint8) for name in names}
    if seed >= 5 and "m" in sides:
        sides["m"] = sides["m"] > 100
    # The sides have chunks of their own, or are arrays of NumPy.
    given = {name: side if seed == 3 else dask.array.from_array(side, (random_chunks(random, 61), random_chunks(random, 83)))
             for name, side in sides.items()}  # fmt: skip
    chunks = tuple(random_chunks(random, size) for size in shape)
    made = satin.dask.map(pipeline, dask.array.from_array(image, chunks), inputs=given, device="cpu")
    np.testing.assert_array_equal(made.compute(scheduler="threads"), satin.run(pipeline, image, inputs=sides, device="cpu"))


def test_side_inputs_that_do_not_fit_are_refused():
    picture = dask.array.zeros((40, 50), dtype=np.uint8, chunks=20)
    with pytest.raises(ValueError, match=r"m has the shape \(40, 49\)"):
        satin.dask.map("blur radius=3 mask=m", picture, inputs={"m": np.zeros((40, 49), np.uint8)})
    with pytest.raises(ValueError, match="edge-smooth.*whole"):
        satin.dask.map(SIDES[-1], picture, inputs={"g": np.zeros((40, 50), np.uint8)})
    with pytest.raises(ValueError, match="floats"):
        satin.dask.map(SIDES[1], picture, inputs={"r": np.zeros((40, 50), np.float32)})


def test_a_picture_that_is_smaller_than_the_reach(random):
    image = random.integers(0, 256, (20, 90), np.uint8)
    made = satin.dask.map("blur radius=30", dask.array.from_array(image, (7, 11)), device="cpu")
    assert made.chunks == dask.array.from_array(image, (7, 11)).chunks
    np.testing.assert_array_equal(made.compute(), satin.blur(image, radius=30, device="cpu"))


@pytest.mark.parametrize("pipeline", ["guided radius=40", "blur radius=70", "unsharp radius=50"])
def test_long_reaches(random, pipeline):
    image = random.integers(0, 256, (170, 290), np.uint8)
    made = satin.dask.map(pipeline, dask.array.from_array(image, (170, 60)), device="cpu").compute()
    np.testing.assert_array_equal(made, satin.run(pipeline, image, device="cpu"))


def test_it_is_lazy_and_keeps_the_chunks():
    calls = []

    def load(block_info=None):
        calls.append(block_info[None]["chunk-location"])
        return np.zeros((50, 50), np.uint8)

    picture = dask.array.map_blocks(load, chunks=((50,) * 4, (50,) * 4), dtype=np.uint8, meta=np.empty((0, 0), np.uint8))
    made = satin.dask.map("blur radius=3", picture)
    assert calls == [] and made.chunks == picture.chunks
    made[:50, :50].compute(scheduler="synchronous")
    assert set(calls) == {(0, 0), (0, 1), (1, 0), (1, 1)}


@pytest.mark.parametrize("pipeline,dtype,says", [
    ("threshold method=otsu", np.uint8, "threshold.*whole"),
    ("threshold method=wolf", np.uint8, "threshold.*whole"),
    ("smooth sigma=3", np.uint8, "smooth"),
    ("integral", np.uint8, "integral"),
    ("stats", np.uint8, "stats"),
    ("blur radius=3 border=wrap", np.uint8, "blur.*whole"),
    ("blur radius=5%", np.uint8, "radius is a percentage"),
    ("blur radius=3 mask=sky", np.uint8, "sky"),
    ("blur radius=3", np.float32, "floats"),
    ("tilt-shift max-radius=5", np.uint8, "tilt-shift"),
    ("blur radius=2 | smooth", np.uint8, "smooth"),
])  # fmt: skip
def test_what_depends_on_more_than_the_neighbours_is_refused(pipeline, dtype, says):
    with pytest.raises(ValueError, match=says):
        satin.dask.map(pipeline, dask.array.zeros((40, 50), dtype=dtype, chunks=20))


def test_every_option_of_a_run_is_known_or_of_arrays_in_memory(random):
    def options(function):
        return {name for name, option in inspect.signature(function).parameters.items() if option.kind is option.KEYWORD_ONLY}

    used = {"inputs": {"m": random.integers(0, 256, (40, 50), np.uint8)}, "alpha": "straight", "order": "bgr", "device": "cpu"}
    assert set(used) == options(satin.dask.map) == options(satin.run) - {"layout", "out"}
    image = random.integers(0, 256, (40, 50, 4), np.uint8)
    for name, value in used.items():
        given = {"inputs": used["inputs"], name: value}
        made = satin.dask.map("blur radius=3 mask=m", dask.array.from_array(image, (13, 17, 4)), **given)
        np.testing.assert_array_equal(made.compute(), satin.run("blur radius=3 mask=m", image, **given))

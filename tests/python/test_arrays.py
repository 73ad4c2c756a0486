"""Accepted arrays: layouts, strides, types, owners."""
import array
import warnings

import numpy as np
import pytest

import satin
from satin import _arrays, _native
from satin._arrays import picture


def blurred(image, **options):
    return satin.blur(image, radius=2.5, **options)


@pytest.fixture
def image(random):
    return random.integers(0, 256, (37, 53, 3), np.uint8)


@pytest.fixture
def expected(image):
    return blurred(np.ascontiguousarray(image))


VIEWS = {
    "negative rows": lambda a: a[::-1],
    "negative columns": lambda a: a[:, ::-1],
    "negative channels": lambda a: a[..., ::-1],
    "every other pixel": lambda a: a[::2, ::3],
    "a part": lambda a: a[3:20, 5:40, 1:],
    "one channel": lambda a: a[..., 1],
    "one column": lambda a: a[:, 7:8],
    "Fortran order": np.asfortranarray,
    "transposed": lambda a: a.transpose(1, 0, 2),
    "broadcast": lambda a: np.broadcast_to(a[:1], a.shape),
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_strides_make_no_difference(image, view):
    loose = view(image)
    np.testing.assert_array_equal(blurred(loose), blurred(np.ascontiguousarray(loose)))


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_pictures_are_looked_at_in_place(image, view):
    loose = view(image)
    assert picture(loose, "image").address == loose.__array_interface__["data"][0]


def test_read_only_pictures(image, expected):
    image.flags.writeable = False
    np.testing.assert_array_equal(blurred(image), expected)


def test_read_only_results_are_refused(image):
    out = np.empty_like(image)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="out is read-only"):
        blurred(image, out=out)


@pytest.mark.parametrize("shape", [(0, 5), (5, 0, 3), (4, 4, 0), (0, 4, 4, 3)])
def test_nothing_is_refused(shape):
    with pytest.raises(ValueError, match="there is no pixel in it"):
        blurred(np.zeros(shape, np.uint8))


def test_a_mask_of_nothing_is_no_missing_mask(image):
    with pytest.raises(ValueError, match="mask has the shape"):
        blurred(image, mask=np.zeros((37, 0), np.uint8))


@pytest.mark.parametrize(
    "dtype", [np.float16, np.int16, np.int64, np.int8, np.complex64], ids=lambda t: t.__name__
)
def test_other_types_are_refused(dtype):
    with pytest.raises(ValueError, match="astype|convert them to u8, u16 or f32"):
        blurred(np.zeros((4, 4), dtype))


def test_other_byte_orders_are_refused():
    with pytest.raises(ValueError, match="byte order"):
        blurred(np.zeros((4, 4), ">u2"))


def test_booleans_are_black_and_white(random, image):
    mask = random.random((37, 53)) < 0.5
    white = mask.astype(np.uint8) * 255
    np.testing.assert_array_equal(blurred(image, mask=mask), blurred(image, mask=white))
    np.testing.assert_array_equal(satin.run("blur mask=m", image, inputs={"m": mask}), satin.blur(image, mask=white))
    np.testing.assert_array_equal(satin.dilate(mask, 2), satin.dilate(white, 2))
    plan = satin.Plan("erode radius=1", mask)
    np.testing.assert_array_equal(plan(mask), satin.erode(white, 1))
    np.testing.assert_array_equal(satin.read(satin.encode(mask, ".png")), white)


def test_floats_of_64_bits_are_converted_and_that_is_said_once(random):
    picture, guide = random.random((2, 37, 53))
    _arrays._tell_of_float64.cache_clear()
    with pytest.warns(UserWarning, match="float64 is converted to float32") as said:
        result = blurred(picture)
    assert said[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(blurred(picture), result)
        expected = satin.guided(picture.astype(np.float32), 3, guide=guide.astype(np.float32))
        np.testing.assert_array_equal(satin.guided(picture, 3, guide=guide), expected)
        assert satin.statistics(picture)[0].mean == satin.statistics(picture.astype(np.float32))[0].mean
    assert result.dtype == np.float32
    np.testing.assert_array_equal(result, blurred(picture.astype(np.float32)))
    assert satin.read(satin.encode(picture, ".npy")).dtype == np.float64


def test_misaligned_arrays_are_refused():
    rows = np.zeros((4, 9), np.uint8)
    with pytest.raises(ValueError, match="not aligned"):
        blurred(rows[:, 1:].view(np.uint16))


@pytest.mark.parametrize("shape", [(5,), (2, 2, 2, 2, 2)])
def test_other_dimensions_are_refused(shape):
    with pytest.raises(ValueError, match=r"\(height, width\)"):
        blurred(np.zeros(shape, np.uint8))


@pytest.mark.parametrize("thing", [[[1, 2], [3, 4]], None, 3])
def test_what_is_no_array_is_a_type_error(thing):
    with pytest.raises(TypeError, match="image is of type"):
        blurred(thing)


# --- Layouts. ---


def test_channels_first(image, expected):
    result = blurred(np.ascontiguousarray(image.transpose(2, 0, 1)), layout="CHW")
    assert result.shape == (3, 37, 53) and result.flags.c_contiguous
    np.testing.assert_array_equal(result.transpose(1, 2, 0), expected)


def test_batches(image, expected):
    batch = np.stack([image, image[::-1], 255 - image])
    for layout, axes in (("NHWC", (0, 1, 2, 3)), ("NCHW", (0, 3, 1, 2)), ("HWCN", (1, 2, 3, 0))):
        result = blurred(np.ascontiguousarray(batch.transpose(axes)), layout=layout)
        back = result.transpose(np.argsort(axes))
        np.testing.assert_array_equal(back[0], expected)
        np.testing.assert_array_equal(back[2], blurred(255 - image))
    np.testing.assert_array_equal(blurred(batch), np.stack([blurred(each) for each in batch]))


def test_grey_batches(image):
    batch = np.ascontiguousarray(image.transpose(2, 0, 1))
    result = blurred(batch, layout="NHW")
    for channel in range(3):
        np.testing.assert_array_equal(result[channel], blurred(np.ascontiguousarray(image[..., channel])))


def test_side_inputs_follow_the_layout(random, image):
    mask = random.integers(0, 256, (37, 53), np.uint8)
    expected = blurred(image, mask=mask)
    planar = blurred(np.ascontiguousarray(image.transpose(2, 0, 1)), mask=mask, layout="CHW")
    np.testing.assert_array_equal(planar.transpose(1, 2, 0), expected)
    np.testing.assert_array_equal(blurred(image, mask=mask[..., None]), expected)
    batch = np.stack([image, image])
    np.testing.assert_array_equal(blurred(batch, mask=mask), np.stack([expected, expected]))
    np.testing.assert_array_equal(blurred(batch, mask=np.stack([mask, mask * 0])), np.stack([expected, image]))


def test_one_channel_is_left_of_several(image):
    assert satin.threshold(image).shape == (37, 53)
    assert satin.threshold(image.transpose(2, 0, 1), layout="CHW").shape == (37, 53)
    assert satin.threshold(image[..., :1]).shape == (37, 53, 1)
    assert satin.integral(image).shape == (37, 53, 3)


@pytest.mark.parametrize("layout", ["HW", "HHWC", "HWX", "WC", "hwc", ""])
def test_wrong_layouts_are_refused(image, layout):
    with pytest.raises(ValueError, match="layout"):
        blurred(image, layout=layout)


def test_channels_first_without_saying_so_is_explained():
    with pytest.raises(ValueError, match=r"\(3, 37, 53\), read as HWC: 53 channels.*layout='CHW'"):
        blurred(np.zeros((3, 37, 53), np.uint8))


def test_alpha_weights_colours():
    image = np.zeros((1, 3, 4), np.uint8)
    image[0, 0] = (255, 255, 255, 0)  # a colour that nobody sees
    image[0, 1:, 3] = 255
    plain = satin.blur(image, radius=1, space="encoded")
    weighted = satin.blur(image, radius=1, space="encoded", alpha="straight")
    assert plain[0, 1, 0] == 85 and weighted[0, 1, 0] == 0
    with pytest.raises(ValueError, match="2 or 4 channels"):
        blurred(np.zeros((4, 4, 3), np.uint8), alpha="straight")


def test_the_order_of_colours_counts_for_luminance():
    blue = np.zeros((4, 4, 3), np.uint8)
    blue[..., 2] = 255
    assert satin.threshold(blue, method="fixed", level=0.1).max() == 0
    assert satin.threshold(blue, method="fixed", level=0.1, order="bgr").min() == 255


# --- Results. ---


def test_results_go_into_any_memory(image, expected):
    room = np.zeros((80, 120, 4), np.uint8)
    for out in (room[1:75:2, 110:4:-2, :3], np.empty((37, 53, 3), np.uint8, order="F")):
        assert blurred(image, out=out) is out
        np.testing.assert_array_equal(out, expected)
    assert room[::2].max() == 0 and room[..., 3].max() == 0


def test_in_place(image, expected):
    assert blurred(image, out=image) is image
    np.testing.assert_array_equal(image, expected)


def test_overlapping_results_are_refused(image):
    with pytest.raises(ValueError, match="overlap"):
        blurred(image[:-1], out=image[1:])


def test_results_of_another_shape_or_type_are_refused(image):
    with pytest.raises(ValueError, match=r"out has the shape \(37, 53\)|layout"):
        blurred(image, out=np.empty((37, 53), np.uint8))
    with pytest.raises(ValueError, match=r"out has the shape \(37, 52, 3\), but \(37, 53, 3\)"):
        blurred(image, out=np.empty((37, 52, 3), np.uint8))
    with pytest.raises(ValueError, match="out is of type uint16, but uint8"):
        blurred(image, out=np.empty((37, 53, 3), np.uint16))


# --- Owners other than NumPy. ---


class Tensor:
    """An array that has DLPack and nothing else, as PyTorch's on the CPU."""

    def __init__(self, values):
        self._values = values
        self.shape = values.shape

    def __dlpack__(self, **options):
        return self._values.__dlpack__(**options)

    def __dlpack_device__(self):
        return (1, 0)


def test_dlpack(image, expected):
    out = np.empty_like(image)
    loose = image[::-1, ::-1]
    assert isinstance(blurred(Tensor(loose), out=Tensor(out)), Tensor)
    np.testing.assert_array_equal(out, expected[::-1, ::-1])
    np.testing.assert_array_equal(blurred(Tensor(image)), expected)
    assert picture(Tensor(loose), "image").address == loose.__array_interface__["data"][0]


class OldTensor(Tensor):
    """A capsule from before DLPack had versions."""

    def __dlpack__(self, stream=None):
        return self._values.__dlpack__(stream=stream)


def test_dlpack_without_versions(image, expected):
    np.testing.assert_array_equal(blurred(OldTensor(image)), expected)


def test_tensors_of_pytorch(random, image, expected):
    torch = pytest.importorskip("torch")
    tensor = torch.from_numpy(image)
    result = blurred(tensor)
    assert isinstance(result, torch.Tensor) and result.dtype == torch.uint8
    np.testing.assert_array_equal(result.numpy(), expected)
    planar = tensor.permute(2, 0, 1)
    assert picture(planar, "image", "CHW").address == tensor.data_ptr()
    np.testing.assert_array_equal(blurred(planar, layout="CHW").permute(1, 2, 0).numpy(), expected)
    out = torch.empty_like(tensor)
    assert blurred(tensor, out=out) is out
    np.testing.assert_array_equal(out.numpy(), expected)
    with pytest.raises(ValueError, match="image: .*detach"):
        blurred(torch.zeros(4, 4, requires_grad=True))
    for dtype in ("int64", "bfloat16"):
        with pytest.raises(ValueError, match=f"values has elements of type {dtype}"):
            satin.scan.reduce(torch.zeros(4, dtype=getattr(torch, dtype)))
    mask = image[..., 0] > 100
    np.testing.assert_array_equal(blurred(tensor, mask=torch.from_numpy(mask)).numpy(), blurred(image, mask=mask))
    double = blurred(torch.from_numpy(image.astype(np.float64)))
    assert isinstance(double, torch.Tensor) and double.dtype == torch.float32
    assert satin.blur(tensor, torch.full((37, 53), 2.5)).equal(result)


def test_arrays_of_jax(random, image, expected):
    jax = pytest.importorskip("jax", reason="jax is not installed")
    picture = jax.numpy.asarray(image)
    result = blurred(picture)
    assert isinstance(result, jax.Array) and result.dtype == "uint8"
    np.testing.assert_array_equal(np.asarray(result), expected)
    mask = picture[..., 0] > 100
    np.testing.assert_array_equal(np.asarray(blurred(picture, mask=mask)), blurred(image, mask=image[..., 0] > 100))
    np.testing.assert_array_equal(np.asarray(satin.blur(picture, jax.numpy.full((37, 53), 2.5))), expected)
    for made in (satin.run("blur radius=2", picture), satin.Plan("blur radius=2", picture)(picture), satin.luminance(picture),
                 satin.find_regions(mask).labels):  # fmt: skip
        assert isinstance(made, jax.Array)
    with pytest.raises(ValueError, match="out is read-only"):
        blurred(picture, out=picture)
    with pytest.raises(TypeError, match="jax_enable_x64"):
        satin.integral(picture.astype("float32"))


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="this NumPy's DLPack has no read-only arrays")
def test_dlpack_keeps_what_is_read_only(image):
    image.flags.writeable = False
    np.testing.assert_array_equal(blurred(Tensor(image)), blurred(image.copy()))
    with pytest.raises(ValueError, match="read-only"):
        blurred(image.copy(), out=Tensor(image))


def test_the_buffer_protocol(image, expected):
    np.testing.assert_array_equal(blurred(memoryview(image)), expected)
    values = array.array("f", [1, 2, 3])
    assert satin.scan.reduce(values) == 6


class CudaArray:
    """The interface of a GPU array without memory behind it."""

    __cuda_array_interface__ = {
        "shape": (4, 4),
        "typestr": "|u1",
        "data": (4096, False),
        "strides": None,
        "version": 3,
        "stream": 2,
    }


def test_gpu_arrays_are_seen_where_they_are():
    view = picture(CudaArray(), "image")
    assert view.on_cuda and view.ordinal == 0 and view.address == 4096
    with pytest.raises(ValueError, match="image lies on cuda:0, which the device cpu does not reach"):
        blurred(CudaArray(), device="cpu")
    with pytest.raises(ValueError, match="mask lies on cuda:0"):
        blurred(np.zeros((4, 4), np.uint8), mask=CudaArray(), device="cpu")
    with pytest.raises(ValueError, match="values lies on cuda:0"):
        satin.scan.reduce(_Flat(), device="cpu")


class _Flat:
    __cuda_array_interface__ = CudaArray.__cuda_array_interface__ | {"shape": (16,)}


def test_views_keep_their_arrays_alive(image):
    import gc
    import weakref

    values = image.copy()
    gone = weakref.ref(values)
    view = picture(values, "image")
    del values
    gc.collect()
    assert gone() is not None
    del view
    gc.collect()
    assert gone() is None


def test_the_native_half_says_its_version():
    assert _native.version == satin.__version__ and satin.__version__.count(".") == 2

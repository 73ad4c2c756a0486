"""Against SciPy, scikit-image and OpenCV: equal within the stated rounding."""
import cv2
import numpy as np
import pytest
import scipy.ndimage
import skimage.filters
import skimage.measure

import satin

# Borders by the name that each library gives them.
SCIPY_BORDERS = {"clamp": "nearest", "reflect": "reflect", "mirror": "mirror", "wrap": "wrap"}


def numbers(random, shape, dtype):
    if np.dtype(dtype).kind == "f":
        return random.normal(0.4, 0.3, shape).astype(dtype)
    return random.integers(0, np.iinfo(dtype).max, shape, endpoint=True).astype(dtype)


def uniform(image, radius, border, **options):
    size = (2 * radius + 1, 2 * radius + 1) + (1,) * (image.ndim - 2)
    return scipy.ndimage.uniform_filter(image.astype(np.float64), size, mode=SCIPY_BORDERS[border], **options)


@pytest.mark.parametrize("border", SCIPY_BORDERS)
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
@pytest.mark.parametrize("radius", [1, 6])
def test_blur_is_scipys_uniform_filter(random, dtype, border, radius):
    image = numbers(random, (57, 83, 3), dtype)
    result = satin.blur(image, radius=radius, border=border, space="encoded")
    exact = uniform(image, radius, border)
    assert result.dtype == image.dtype and result.shape == image.shape
    # Integers are rounded to nearest; floats have 40 bits below the largest value, and 24 when stored.
    bound = 0.5 + 1e-6 if result.dtype.kind == "u" else 2.0**-22
    assert np.abs(result - exact).max() <= bound


def test_blur_of_a_photo_is_scipys_uniform_filter(photo):
    result = satin.blur(photo, radius=9, border="reflect", space="encoded")
    assert np.abs(result - uniform(photo, 9, "reflect")).max() <= 0.5 + 1e-6


def test_blur_shrinks_as_normalised_convolution(random):
    image = numbers(random, (40, 31), np.uint8)
    zero = {"mode": "constant", "cval": 0.0}
    sums = scipy.ndimage.uniform_filter(image.astype(np.float64), 11, **zero)
    weights = scipy.ndimage.uniform_filter(np.ones_like(image, np.float64), 11, **zero)
    result = satin.blur(image, radius=5, space="encoded")
    assert np.abs(result - sums / weights).max() <= 0.5 + 1e-6


@pytest.mark.parametrize("name", ["opening", "closing"])
@pytest.mark.parametrize("radius", [1, 4])
def test_opening_and_closing_are_scipys(random, name, radius):
    image = random.integers(0, 256, (61, 47), np.uint8)
    reference = getattr(scipy.ndimage, "grey_" + name)(image, 2 * radius + 1, mode="reflect")
    np.testing.assert_array_equal(getattr(satin, name)(image, radius), reference)
    assert (np.asarray(satin.mask(image, **{name[:-3] if name == "opening" else "close": radius})) != reference).mean() > 0.9


def test_local_deviation_is_that_of_scipys_means(random):
    image = numbers(random, (45, 38), np.uint8)
    mean = scipy.ndimage.uniform_filter(image.astype(np.float64), 7, mode="reflect")
    squares = scipy.ndimage.uniform_filter(image.astype(np.float64) ** 2, 7, mode="reflect")
    result = satin.local_deviation(image, window=7, border="reflect")
    assert np.abs(result - np.sqrt(squares - mean**2)).max() <= 0.5 + 1e-6


@pytest.mark.parametrize("source", ["page", "noise"])
@pytest.mark.parametrize("window,k", [(15, 0.2), (51, 0.34)])
def test_threshold_is_skimages_sauvola(request, random, source, window, k):
    if source == "page":
        image = request.getfixturevalue("page")
    else:
        image = numbers(random, (90, 120), np.uint8)
    level = skimage.filters.threshold_sauvola(image, window, k, r=128)
    result = satin.threshold(image, method="sauvola", window=window, k=k, border="mirror")
    certain = np.abs(image - level) > 1e-6
    assert certain.mean() > 0.999
    np.testing.assert_array_equal((result == 255)[certain], (image > level)[certain])
    assert set(np.unique(result)) <= {0, 255}


def test_otsu_is_opencvs(page):
    _, expected = cv2.threshold(page, 0, 255, cv2.THRESH_BINARY | cv2.THRESH_OTSU)
    np.testing.assert_array_equal(satin.threshold(page, method="otsu"), expected)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_integral_is_opencvs(random, dtype):
    image = numbers(random, (61, 47, 3), dtype)
    expected = cv2.integral(image, sdepth=cv2.CV_64F)[1:, 1:]
    result = satin.integral(image)
    assert result.dtype == (np.uint32 if dtype == np.uint8 else np.float64)
    np.testing.assert_allclose(result, expected, rtol=0 if dtype == np.uint8 else 1e-6)


def test_blur_is_opencvs(photo):
    result = satin.blur(photo, radius=4, border="mirror", space="encoded").astype(int)
    difference = np.abs(result - cv2.blur(photo, (9, 9)))
    assert difference.max() <= 1 and difference.mean() < 0.01  # OpenCV rounds ties otherwise


@pytest.mark.parametrize("radius", [1, 7])
def test_morphology_is_opencvs(photo, radius):
    kernel = np.ones((2 * radius + 1, 2 * radius + 1), np.uint8)
    np.testing.assert_array_equal(satin.erode(photo, radius=radius), cv2.erode(photo, kernel))
    np.testing.assert_array_equal(satin.dilate(photo, radius=radius), cv2.dilate(photo, kernel))


@pytest.mark.parametrize("connectivity", [4, 8])
def test_regions_are_skimages(random, connectivity):
    mask = (random.random((120, 150)) < 0.4).astype(np.uint8) * 200
    image = numbers(random, (120, 150, 3), np.uint16)
    found = satin.find_regions(mask, image, connectivity=connectivity)
    labels = skimage.measure.label(mask != 0, connectivity=connectivity // 4)
    np.testing.assert_array_equal(found.labels, labels)
    expected = skimage.measure.regionprops(labels, image)
    assert len(found.regions) == len(expected) > 100
    for region, peer in zip(found.regions, expected):
        assert (region.label, region.area) == (peer.label, peer.area)
        top, left, bottom, right = peer.bbox
        assert region.bbox == (left, top, right - left, bottom - top)
        np.testing.assert_allclose(region.centroid[::-1], peer.centroid, rtol=1e-12)
        pixels = image[labels == peer.label]
        for channel, values in enumerate(region.values):
            np.testing.assert_allclose(values.mean, peer.intensity_mean[channel], rtol=1e-12)
            assert values.minimum == peer.intensity_min[channel]
            assert values.maximum == peer.intensity_max[channel]
            np.testing.assert_allclose(values.deviation, pixels[:, channel].std(), rtol=1e-9, atol=1e-9)


def test_regions_of_a_page(page):
    ink = satin.threshold(page, window=51, invert=True)
    found = satin.find_regions(ink, page, min_area=20, touches_border=False, sort_by="area", descending=True)
    labels = skimage.measure.label(ink != 0, connectivity=2)
    height, width = page.shape
    kept = [
        peer
        for peer in skimage.measure.regionprops(labels)
        if peer.area >= 20
        and peer.bbox[0] > 0
        and peer.bbox[1] > 0
        and peer.bbox[2] < height
        and peer.bbox[3] < width
    ]
    assert [region.area for region in found.regions] == sorted((peer.area for peer in kept), reverse=True)
    assert [region.label for region in found.regions] == list(range(1, len(kept) + 1))
    for region in found.regions[:20]:
        assert (found.labels == region.label).sum() == region.area


def test_mask_fills_and_cleans_as_skimage_does(random):
    noise = scipy.ndimage.gaussian_filter(random.random((100, 140)), 2) > 0.5
    mask = noise.astype(np.uint8) * 255
    filled = satin.mask(mask, fill_all_holes=True, connectivity=8)
    expected = scipy.ndimage.binary_fill_holes(noise)  # its background is connected by sides
    np.testing.assert_array_equal(filled == 255, expected)

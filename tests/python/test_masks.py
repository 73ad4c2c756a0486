"""Regions' options, run lengths, statistics and tones."""
import sys

import numpy as np
import pytest

import satin
from conftest import ROOT

sys.path.append(str(ROOT / "tests" / "cli"))
import coco  # noqa: E402


@pytest.fixture
def mask(random):
    return random.random((23, 31)) < 0.4


@pytest.mark.parametrize("view", [lambda m: m, lambda m: m[::-1, ::2], lambda m: m.astype(np.uint8) * 3])
def test_run_lengths_are_cocos(mask, view):
    mask = view(mask)
    counts = coco.counts(mask)
    size = list(mask.shape)
    runs = satin.rle.encode(mask)
    text = satin.rle.encode(mask, compressed=True)
    assert runs == {"size": size, "counts": counts}
    assert text == {"size": size, "counts": coco.text(counts)}
    for each in (runs, text, {"size": size, "counts": text["counts"].encode()}):
        decoded = satin.rle.decode(each)
        assert decoded.dtype == np.uint8
        np.testing.assert_array_equal(decoded, (mask != 0) * 255)
        assert satin.rle.area(each) == (mask != 0).sum()
    rows, columns = np.nonzero(mask)
    assert satin.rle.bbox(runs) == (
        columns.min(), rows.min(), columns.max() - columns.min() + 1, rows.max() - rows.min() + 1,
    )  # fmt: skip


def test_run_lengths_of_labels(mask):
    found = satin.find_regions(mask, connectivity=4)
    wanted = [2, 1, len(found.regions)]
    for label, runs in zip(wanted, satin.rle.encode_labels(found.labels, wanted)):
        assert runs["counts"] == coco.counts(found.labels == label)


def test_unions(mask):
    both = satin.rle.unite([satin.rle.encode(mask), satin.rle.encode(mask[::-1])])
    assert both["counts"] == coco.counts(mask | mask[::-1])


@pytest.mark.parametrize(
    "runs", [{"size": [2, 2], "counts": [1, 2]}, {"size": [2, 2], "counts": "~"}, {"size": [0, 2], "counts": []}]
)
def test_run_lengths_that_are_none(runs):
    with pytest.raises(ValueError):
        satin.rle.decode(runs)


def test_regions_without_an_image(mask):
    found = satin.find_regions(mask)
    assert found.labels.shape == mask.shape and found.labels.dtype == np.uint32
    assert sum(region.area for region in found.regions) == mask.sum()
    assert all(region.values == () for region in found.regions)
    holes = satin.find_regions(mask, zeros=True, connectivity=4)
    assert sum(region.area for region in holes.regions) == (~mask).sum()


def test_regions_within_bounds(mask):
    every = satin.find_regions(mask, connectivity=4).regions
    kept = satin.find_regions(mask, connectivity=4, min_area=2, max_area=40, max_width=5, touches_border=False)
    expected = [r for r in every if 2 <= r.area <= 40 and r.bbox[2] <= 5 and not r.touches_border]
    assert [r.bbox for r in kept.regions] == [r.bbox for r in expected] and 0 < len(expected) < len(every)
    np.testing.assert_array_equal(np.unique(kept.labels), np.arange(len(expected) + 1))


@pytest.mark.parametrize(
    "options,message",
    [
        ({"connectivity": 6}, "4 or 8"),
        ({"sort_by": "mean"}, "values|image|channel"),
        ({"sort_by": "size"}, "area"),
        ({"image": np.zeros((5, 5), np.uint8)}, "size|image"),
    ],
    ids=str,
)
def test_wrong_regions(mask, options, message):
    with pytest.raises(ValueError, match=message):
        satin.find_regions(mask, **options)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_statistics(random, mask, dtype):
    image = random.integers(0, 256, (23, 31, 3)).astype(dtype)
    for chosen, pixels in ((None, image.reshape(-1, 3)), (mask, image[mask])):
        found = satin.statistics(image[::-1], None if chosen is None else chosen[::-1], percents=(5, 50, 90), bins=16)
        for channel, each in zip(pixels.T, found):
            assert (each.count, each.nan) == (len(channel), 0)
            assert (each.minimum, each.maximum) == (channel.min(), channel.max())
            np.testing.assert_allclose((each.mean, each.deviation), (channel.mean(), channel.std()), rtol=1e-6)
            np.testing.assert_allclose(each.percentiles, np.percentile(channel, (5, 50, 90)))
            counts, edges = np.histogram(channel, 16, (each.lower, each.upper))
            np.testing.assert_array_equal(each.histogram, counts)
    planar = satin.statistics(np.ascontiguousarray(image.transpose(2, 0, 1)), layout="CHW")
    assert [each.mean for each in planar] == [each.mean for each in satin.statistics(image)]


def test_filters_that_make_json(random, mask):
    image = random.integers(0, 256, (23, 31, 3), np.uint8)
    white = mask.astype(np.uint8) * 255
    channels = satin.stats(image, mask=white, percentiles=(5, 50), bins=16)["statistics"]
    for each, found in zip(channels, satin.statistics(image, mask, percents=(5, 50), bins=16)):
        assert (each["count"], each["mean"], each["max"]) == (found.count, found.mean, found.maximum)
        assert (tuple(each["percentiles"]), each["histogram"]["counts"]) == (found.percentiles, list(found.histogram))
    regions = satin.regions(white, image=image, connectivity="4", min_area=3)
    expected = satin.find_regions(white, image, connectivity=4, min_area=3).regions
    assert [tuple(each["bbox"]) for each in regions["regions"]] == [each.bbox for each in expected]
    assert regions["regions"][0]["mean"] == [each.mean for each in expected[0].values]
    assert satin.run("blur radius=2 | bins bins=4", image) == satin.bins(satin.blur(image, radius=2), bins=4)
    with pytest.raises(ValueError, match="out"):
        satin.bins(image, out=image)


def test_tone_zones(random):
    image = random.integers(0, 256, (17, 19), np.uint8)
    found = satin.tone_zones(image, 4)
    np.testing.assert_array_equal(found.zones, image // 64)
    assert found.counts == tuple(np.bincount(image.ravel() // 64, minlength=4))
    order = np.argsort(image.ravel() // 64, kind="stable")
    np.testing.assert_array_equal(found.pixels[:, 0], image.ravel()[order])
    np.testing.assert_array_equal(found.positions, np.stack((order % 19, order // 19), 1))
    edges = satin.tone_zones(image, [0, 10, 200, 256])
    np.testing.assert_array_equal(edges.zones, np.digitize(image, [10, 200]))


def test_luminance(random):
    image = random.integers(0, 256, (17, 19, 3), np.uint8)
    exact = image @ np.array([0.2126, 0.7152, 0.0722])
    assert np.abs(satin.luminance(image) - exact).max() <= 0.5 + 1e-9

"""satin regions against a flood fill."""
import json

import numpy as np
import pytest

import coco
import png_file
from conftest import FULL_CODECS, files_below


def flood(inside, eight=True):
    """Labels from 1 in the raster order of first pixels."""
    steps = [(-1, 0), (1, 0), (0, -1), (0, 1)] + ([(-1, -1), (-1, 1), (1, -1), (1, 1)] if eight else [])
    labels, count = np.zeros(inside.shape, int), 0
    for start in zip(*np.nonzero(inside)):
        if labels[start]:
            continue
        count += 1
        labels[start] = count
        open_pixels = [start]
        while open_pixels:
            y, x = open_pixels.pop()
            for dy, dx in steps:
                to = (y + dy, x + dx)
                if 0 <= to[0] < inside.shape[0] and 0 <= to[1] < inside.shape[1] and inside[to] and not labels[to]:
                    labels[to] = count
                    open_pixels.append(to)
    return labels


def blobs(shape=(41, 57), seed=7):
    noise = np.random.default_rng(seed).random(shape)
    smooth = sum(np.roll(noise, (dy, dx), (0, 1)) for dy in (0, 1) for dx in (0, 1))
    return np.where(smooth > 2.3, 255, 0).astype(np.uint8)


@pytest.fixture
def mask(tmp_path):
    pixels = blobs()
    png_file.write(tmp_path / "m.png", pixels)
    return pixels


def regions(satin, *arguments):
    document = json.loads(satin.good("regions", *arguments).stdout)
    assert list(document) == ["image", "regions"]
    return document


def expect_region(found, inside):
    y, x = np.nonzero(inside)
    assert found["area"] == len(x)
    assert found["bbox"] == [x.min(), y.min(), x.max() - x.min() + 1, y.max() - y.min() + 1]
    assert found["centroid"] == [pytest.approx(x.mean(), rel=1e-14), pytest.approx(y.mean(), rel=1e-14)]
    height, width = inside.shape
    assert found["touches_border"] == bool(min(x.min(), y.min()) == 0 or x.max() == width - 1 or y.max() == height - 1)


@pytest.mark.parametrize("arguments, eight", [([], True), (["--connectivity", "8"], True),
                                              (["--connectivity", "4"], False)])
def test_places_sizes_and_run_lengths(satin, mask, arguments, eight):
    document = regions(satin, "m.png", *arguments)
    labels = flood(mask != 0, eight)
    image = document["image"]
    assert (image["width"], image["height"], image["found"]) == (57, 41, labels.max())
    assert image["connectivity"] == (8 if eight else 4)
    assert [region["label"] for region in document["regions"]] == list(range(1, labels.max() + 1))
    for region in document["regions"]:
        inside = labels == region["label"]
        expect_region(region, inside)
        assert region["rle"] == {"size": [41, 57], "counts": coco.text(coco.counts(inside))}


def test_run_lengths_as_numbers_or_none(satin, mask):
    labels = flood(mask != 0)
    for region in regions(satin, "m.png", "--rle", "uncompressed")["regions"]:
        assert region["rle"] == {"size": [41, 57], "counts": coco.counts(labels == region["label"])}
    assert all("rle" not in region for region in regions(satin, "m.png", "--rle", "none")["regions"])


def test_values_of_a_grey_picture(satin, tmp_path, mask, noise):
    pixels = noise(mask.shape, np.uint16)
    png_file.write(tmp_path / "i.png", pixels)
    labels = flood(mask != 0)
    for region in regions(satin, "m.png", "--image", "i.png")["regions"]:
        values = pixels[labels == region["label"]].astype(float)
        assert (region["min"], region["max"]) == (values.min(), values.max())
        assert region["mean"] == pytest.approx(values.mean(), rel=1e-14)
        assert region["deviation"] == pytest.approx(values.std(), rel=1e-11, abs=1e-9)


def test_values_of_colours_are_lists(satin, tmp_path, mask, noise):
    pixels = noise(mask.shape + (3,))
    png_file.write(tmp_path / "i.png", pixels)
    labels = flood(mask != 0)
    for region in regions(satin, "m.png", "--image", "i.png")["regions"]:
        values = pixels[labels == region["label"]].astype(float)
        assert region["min"] == values.min(0).tolist() and region["max"] == values.max(0).tolist()
        assert region["mean"] == pytest.approx(values.mean(0).tolist(), rel=1e-14)


BOUNDS = [
    (["--min-area", "5"], lambda r: r["area"] >= 5),
    (["--max-area", "5"], lambda r: r["area"] <= 5),
    (["--min-area", "3", "--max-area", "3"], lambda r: r["area"] == 3),
    (["--min-width", "4"], lambda r: r["bbox"][2] >= 4),
    (["--max-width", "2"], lambda r: r["bbox"][2] <= 2),
    (["--min-height", "4"], lambda r: r["bbox"][3] >= 4),
    (["--max-height", "2"], lambda r: r["bbox"][3] <= 2),
    (["--no-border"], lambda r: not r["touches_border"]),
    (["--no-border", "--min-area", "4", "--max-height", "3"],
     lambda r: not r["touches_border"] and r["area"] >= 4 and r["bbox"][3] <= 3),
]


@pytest.mark.parametrize("arguments, keeps", BOUNDS)
def test_bounds_keep_some_and_number_them_anew(satin, mask, arguments, keeps):
    every = regions(satin, "m.png", "--rle", "none")
    kept = regions(satin, "m.png", "--rle", "none", *arguments)
    expected = [{**region, "label": 0} for region in every["regions"] if keeps(region)]
    assert 0 < len(expected) < len(every["regions"])
    assert [region["label"] for region in kept["regions"]] == list(range(1, len(expected) + 1))
    assert [{**region, "label": 0} for region in kept["regions"]] == expected
    assert kept["image"]["found"] == every["image"]["found"]


KEYS = {"label": lambda r: r["label"], "area": lambda r: r["area"], "x": lambda r: r["bbox"][0],
        "y": lambda r: r["bbox"][1], "width": lambda r: r["bbox"][2], "height": lambda r: r["bbox"][3],
        "mean": lambda r: r["mean"], "min": lambda r: r["min"], "max": lambda r: r["max"],
        "deviation": lambda r: r["deviation"]}


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("descending", [False, True])
def test_sorting_keeps_the_labels(satin, tmp_path, mask, noise, key, descending):
    png_file.write(tmp_path / "i.png", noise(mask.shape))
    every = regions(satin, "m.png", "--image", "i.png")["regions"]
    order = ["--sort", key] + (["--descending"] if descending else [])
    found = regions(satin, "m.png", "--image", "i.png", *order)["regions"]
    expected = sorted(every, key=lambda r: -KEYS[key](r) if descending else KEYS[key](r))
    assert found == expected


def test_limit_keeps_the_first_of_the_order(satin, tmp_path, mask):
    labels = flood(mask != 0)
    largest = sorted(range(1, labels.max() + 1), key=lambda label: -(labels == label).sum())[:4]
    found = regions(satin, "m.png", "--sort", "area", "--descending", "--limit", "4", "--labels", "l.npy")["regions"]
    assert [r["area"] for r in found] == [(labels == label).sum() for label in largest]
    assert [r["label"] for r in found] == [sorted(largest).index(label) + 1 for label in largest]
    expected = sum((i + 1) * (labels == label) for i, label in enumerate(sorted(largest)))
    np.testing.assert_array_equal(np.load(tmp_path / "l.npy"), expected)
    assert len(regions(satin, "m.png", "--limit", "100000")["regions"]) == labels.max()


def test_level_decides_what_is_inside(satin, tmp_path, noise):
    pixels = noise((20, 30))
    png_file.write(tmp_path / "m.png", pixels)
    for arguments, inside in [([], pixels > 0), (["--level", "0.5"], pixels > 127.5),
                              (["--level", "0.8"], pixels > 204), (["--level", "1"], pixels > 255),
                              (["--invert"], pixels == 0), (["--level", "0.5", "--invert"], pixels <= 127.5)]:
        found = regions(satin, "m.png", *arguments, "--rle", "uncompressed")["regions"]
        got = sum((coco.mask(r["rle"]["counts"], (20, 30)) for r in found), np.zeros((20, 30), int))
        np.testing.assert_array_equal(got, np.where(inside, 255, 0))


def test_masks_of_other_types(satin, tmp_path):
    expected = blobs()
    np.save(tmp_path / "f.npy", np.where(expected, np.float32(0.25), np.float32(-1)))
    png_file.write(tmp_path / "s.png", np.where(expected, 1, 0).astype(np.uint16))
    png_file.write(tmp_path / "c.png", np.stack([expected, expected, expected, 0 * expected], 2))
    png_file.write(tmp_path / "g.png", expected)
    reference = regions(satin, "g.png")["regions"]
    for name in ("f.npy", "s.png", "c.png"):
        assert regions(satin, name)["regions"] == reference, name


@pytest.mark.parametrize("value, count", [(0, 0), (255, 1)])
def test_empty_and_full_masks(satin, tmp_path, value, count):
    png_file.write(tmp_path / "m.png", np.full((5, 9), value, np.uint8))
    found = regions(satin, "m.png", "--labels", "l.png", "--coordinates", "c.npy", "--overlay", "o.png")
    assert len(found["regions"]) == count
    np.testing.assert_array_equal(png_file.read(tmp_path / "l.png"), np.full((5, 9), count))
    rows = np.load(tmp_path / "c.npy")
    assert rows.shape == (45 * count, 3) and rows.dtype == np.uint32
    if count:
        assert found["regions"][0]["rle"] == {"size": [5, 9], "counts": "0]1"}


needs_tiff = pytest.mark.skipif(not FULL_CODECS, reason="this build has no TIFF")


@pytest.mark.parametrize("name", ["l.png", pytest.param("l.tif", marks=needs_tiff), "l.npy"])
def test_label_pictures(satin, tmp_path, mask, name):
    regions(satin, "m.png", "--min-area", "3", "--labels", name)
    labels = flood(mask != 0)
    kept = [label for label in range(1, labels.max() + 1) if (labels == label).sum() >= 3]
    expected = sum((i + 1) * (labels == label) for i, label in enumerate(kept))
    if name == "l.tif":
        satin.good("blur", "l.tif", "-o", "l.npy", "--radius", "0")
    found = png_file.read(tmp_path / name) if name == "l.png" else np.load(tmp_path / "l.npy")
    assert found.dtype == np.uint16
    np.testing.assert_array_equal(found, expected)


def test_more_labels_than_16_bits_hold(satin, tmp_path):
    pixels = np.zeros((512, 520), np.uint8)
    pixels[::2, ::2] = 255  # 66560 points
    png_file.write(tmp_path / "m.png", pixels)
    satin.bad(2, "regions", "m.png", "--labels", "l.png", says=["66560", "32 bits"])
    assert files_below(tmp_path) == ["m.png"]
    document = regions(satin, "m.png", "--labels", "l.npy")
    labels = np.load(tmp_path / "l.npy")
    assert labels.dtype == np.uint32 and labels.max() == 66560 == len(document["regions"])
    np.testing.assert_array_equal(labels[::2, ::2].ravel(), np.arange(1, 66561))
    if FULL_CODECS:
        regions(satin, "m.png", "--labels", "l.tif", "--rle", "none")


def test_coordinates(satin, tmp_path, mask):
    regions(satin, "m.png", "--coordinates", "c.npy", "--no-border", "--sort", "area")
    labels = flood(mask != 0)
    border = set(labels[0]) | set(labels[-1]) | set(labels[:, 0]) | set(labels[:, -1])
    kept = [label for label in range(1, labels.max() + 1) if label not in border]
    expected = [(i + 1, x, y) for i, label in enumerate(kept) for y, x in zip(*np.nonzero(labels == label))]
    rows = np.load(tmp_path / "c.npy")
    assert rows.dtype == np.uint32
    np.testing.assert_array_equal(rows, expected)


def test_overlay_outlines_boxes(satin, tmp_path):
    pixels = np.zeros((700, 800), np.uint8)
    pixels[200:300, 350:500] = 255
    png_file.write(tmp_path / "m.png", pixels)
    png_file.write(tmp_path / "i.png", np.full((700, 800, 3), 90, np.uint8))
    regions(satin, "m.png", "--image", "i.png", "--overlay", "o.png")
    drawn = png_file.read(tmp_path / "o.png")
    assert drawn.shape == (700, 800, 3)
    changed = (drawn != 90).any(2)
    y, x = np.nonzero(changed[190:])
    assert (y.min() + 190, y.max() + 190, x.min(), x.max()) == (190, 301, 348, 501)
    assert not changed[200:300, 350:500].any(), "the region itself stays to be seen"
    assert changed[199, 349:501].all() and changed[300, 349:501].all() and changed[199:301, 349].all()
    assert changed[180:199, 349:360].any(), "its number stands above"


def test_overlay_of_a_small_mask_is_magnified(satin, tmp_path):
    png_file.write(tmp_path / "m.png", np.full((3, 7), 255, np.uint8))
    regions(satin, "m.png", "--overlay", "o.png")
    assert png_file.read(tmp_path / "o.png").shape == (3 * 86, 7 * 86, 3)


@pytest.mark.parametrize("shape", [(1, 1), (1, 900), (900, 1), (2, 2000)])
def test_overlay_of_odd_shapes(satin, tmp_path, shape):
    png_file.write(tmp_path / "m.png", np.full(shape, 255, np.uint8))
    assert len(regions(satin, "m.png", "--overlay", "o.png")["regions"]) == 1


def test_several_masks(satin, tmp_path, mask):
    (tmp_path / "bad.png").write_bytes(b"no picture")
    satin.good("regions", "m.png", "-o", "one.json")
    result = satin("regions", "m.png", "bad.png", "-o", "all.json")
    assert result.returncode == 1 and result.stdout == b""
    document = json.loads((tmp_path / "all.json").read_text())
    assert document["exit_code"] == 1 and len(document["files"]) == 2
    one = json.loads((tmp_path / "one.json").read_text())
    assert {key: document["files"][0][key] for key in ("image", "regions")} == one
    assert "error" in document["files"][1]
    satin.bad(2, "regions", "m.png", "m.png", "--overlay", "o.png", says="--overlay")


def test_standard_streams(satin, tmp_path, mask):
    expected = regions(satin, "m.png")["regions"]
    data = (tmp_path / "m.png").read_bytes()
    assert json.loads(satin.good("regions", "-", "-o", "-", stdin=data).stdout)["regions"] == expected


@pytest.mark.parametrize("arguments, says", [
    (["--connectivity", "6"], ["--connectivity", "4, 8"]),
    (["--rle", "zip"], "--rle"),
    (["--sort", "size"], "--sort"),
    (["--sort", "mean"], ["--sort mean", "--image"]),
    (["--min-area", "-1"], "--min-area"),
    (["--min-area", "x"], "--min-area"),
    (["--min-area", "5", "--max-area", "4"], ["--min-area 5", "--max-area 4"]),
    (["--limit", "0"], "--limit"),
    (["--level", "nan"], "--level"),
    (["--labels", "l.jpg"], "l.jpg"),
    (["--labels", "none/l.png"], "none"),
    (["--coordinates", "c.txt"], ["c.txt", ".npy"]),
    (["--overlay", "o.xyz"], "o.xyz"),
    (["-o", "m.png"], "m.png"),
    (["--overlay", "m.png", "--overwrite"], ["m.png", "same file"]),
    (["--labels", "x.png", "--overlay", "x.png"], ["x.png", "same file"]),
    (["--image", "small.png"], ["5 x 5", "57 x 41"]),
    (["--areas", "5"], "--areas"),
])
def test_usage_errors(satin, tmp_path, mask, noise, arguments, says):
    png_file.write(tmp_path / "small.png", noise((5, 5)))
    before = (tmp_path / "m.png").read_bytes()
    satin.bad(2, "regions", "m.png", *arguments, says=says)
    assert files_below(tmp_path) == ["m.png", "small.png"]
    assert (tmp_path / "m.png").read_bytes() == before


def test_outputs_are_not_replaced(satin, tmp_path, mask):
    outputs = ["-o", "r.json", "--labels", "l.png", "--coordinates", "c.npy", "--overlay", "o.png"]
    satin.good("regions", "m.png", *outputs)
    for option, name in zip(outputs[::2], outputs[1::2]):
        satin.bad(2, "regions", "m.png", option, name, says=[name, "--overwrite"])
    satin.good("regions", "m.png", *outputs, "--overwrite")


def test_bad_inputs(satin, tmp_path, mask):
    satin.bad(1, "regions", "none.png", says="none.png")
    satin.bad(1, "regions", "m.png", "--image", "none.png", says="none.png")
    satin.bad(2, "regions", says="input")
    np.save(tmp_path / "nan.npy", np.array([[0, np.nan], [1, 1]], "<f4"))
    satin.bad(1, "regions", "nan.npy", says="NaN")
    png_file.write(tmp_path / "two.png", np.full((2, 2), 255, np.uint8))
    satin.bad(1, "regions", "two.png", "--image", "nan.npy", says="NaN")
    result = satin("regions", "none.png", "--json")
    assert json.loads(result.stdout)["error"]["kind"] == "input"

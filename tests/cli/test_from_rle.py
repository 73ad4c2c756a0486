"""satin mask --from-rle: masks from run lengths of Satin and of COCO."""
import json

import numpy as np
import pytest

import coco
import png_file
from conftest import files_below


def blobs(seed, shape=(23, 31)):
    noise = np.random.default_rng(seed).random(shape)
    smooth = sum(np.roll(noise, (dy, dx), (0, 1)) for dy in (0, 1) for dx in (0, 1))
    return np.where(smooth > 2.4, 255, 0).astype(np.uint8)


def rle(mask, compressed=True):
    counts = coco.counts(mask)
    return {"size": list(mask.shape), "counts": coco.text(counts) if compressed else counts}


@pytest.fixture
def written(satin, tmp_path):
    """written(document, options...): the mask that it becomes."""

    def make(document, *options):
        (tmp_path / "r.json").write_text(document if isinstance(document, str) else json.dumps(document))
        satin.good("mask", "--from-rle", "r.json", "-o", "out.png", "--overwrite", *options)
        return png_file.read(tmp_path / "out.png")

    return make


def test_definition_of_the_test():
    """The oracle on cases worked by hand."""
    mask = np.array([[0, 1, 0], [0, 1, 1], [0, 0, 0]])
    assert coco.counts(mask) == [3, 2, 2, 1, 1]
    assert coco.text([3, 2, 2, 1, 1]) == "322OO" and coco.numbers("322OO") == [3, 2, 2, 1, 1]
    assert coco.text([1, 40, 1, 7]) == "1X11oN" and coco.numbers("1X11oN") == [1, 40, 1, 7]


@pytest.mark.parametrize("text", ["compressed", "uncompressed"])
def test_regions_and_back(satin, tmp_path, text):
    mask = blobs(1)
    png_file.write(tmp_path / "m.png", mask)
    satin.good("regions", "m.png", "-o", "r.json", "--rle", text)
    satin.good("mask", "--from-rle", "r.json", "-o", "out.png")
    np.testing.assert_array_equal(png_file.read(tmp_path / "out.png"), mask)
    document = json.loads((tmp_path / "r.json").read_text())
    for region in document["regions"]:
        counts = region["rle"]["counts"]
        assert text == "uncompressed" or coco.text(coco.numbers(counts)) == counts


def test_chosen_labels(satin, tmp_path, written):
    png_file.write(tmp_path / "m.png", blobs(1))
    document = satin.good("regions", "m.png", "--sort", "area").stdout.decode()
    by_label = {r["label"]: coco.mask(coco.numbers(r["rle"]["counts"]), (23, 31)) for r in json.loads(document)["regions"]}
    np.testing.assert_array_equal(written(document, "--label", "2"), by_label[2])
    np.testing.assert_array_equal(written(document, "--label", "5,1,2"), by_label[1] | by_label[2] | by_label[5])
    satin.bad(2, "mask", "--from-rle", "r.json", "-o", "x.png", "--label", "1,4711", says=["--label 4711"])


@pytest.mark.parametrize("compressed", [True, False])
def test_forms_of_coco(written, compressed):
    one, two = rle(blobs(1), compressed), rle(blobs(2), compressed)
    both = blobs(1) | blobs(2)
    annotations = [{"id": 7, "image_id": 3, "segmentation": one, "iscrowd": 1}, {"id": 9, "image_id": 3, "segmentation": two}]
    np.testing.assert_array_equal(written(one), blobs(1))
    np.testing.assert_array_equal(written(annotations[0]), blobs(1))
    np.testing.assert_array_equal(written([one, two]), both)
    np.testing.assert_array_equal(written(annotations), both)
    np.testing.assert_array_equal(written({"info": {}, "annotations": annotations}), both)
    np.testing.assert_array_equal(written({"annotations": annotations}, "--label", "9"), blobs(2))
    np.testing.assert_array_equal(written([one, two], "--label", "2"), blobs(2))


def test_no_regions_give_an_empty_mask(satin, tmp_path, written):
    png_file.write(tmp_path / "m.png", np.zeros((4, 6), np.uint8))
    document = satin.good("regions", "m.png").stdout.decode()
    np.testing.assert_array_equal(written(document), np.zeros((4, 6)))


def test_streams_formats_and_report(satin, tmp_path):
    mask = blobs(3)
    text = json.dumps(rle(mask)).encode()
    png = satin.good("mask", "--from-rle", "-", "-o", "-", "--format", "png", stdin=text).stdout
    np.testing.assert_array_equal(png_file.decode(png), mask)
    (tmp_path / "r.json").write_bytes(text)
    report = json.loads(satin.good("mask", "--from-rle", "r.json", "-o", "m.npy", "--json").stdout)
    assert (report["status"], report["width"], report["height"], report["masks"]) == ("done", 31, 23, 1)
    np.testing.assert_array_equal(np.load(tmp_path / "m.npy"), mask)


BAD = [
    ("", "no JSON"),
    ("{", "no JSON"),
    ("\xff\xfe", "no JSON"),
    ('{"size": [2, 2], "counts": [4]} x', "no JSON"),
    ("[" * 100000, "nested deeper"),
    ('{"a":' * 40 + "1" + "}" * 40, "nested deeper"),
    ("5", "no run lengths"),
    ("{}", "no run lengths"),
    ("[]", "holds no masks"),
    ("[1]", "no run lengths"),
    ({"regions": [{"label": 1, "area": 4}]}, "--rle"),
    ({"regions": [{"label": -1, "rle": {"size": [2, 2], "counts": [4]}}]}, '"label"'),
    ({"files": []}, "several masks"),
    ({"segmentation": [[1, 2, 3, 4, 5, 6]]}, "polygons"),
    ({"size": [2, 2], "counts": [3]}, "add up to 3"),
    ({"size": [2, 2], "counts": [1, -1, 4]}, "counts"),
    ({"size": [2, 2], "counts": [1, 1.5, 1.5]}, "counts"),
    ({"size": [2, 2], "counts": [1, "2"]}, "counts"),
    ({"size": [2, 2], "counts": [4294967296]}, "counts"),
    ('{"size": [2, 2], "counts": [1e999]}', "too large"),
    ({"size": [2, 2], "counts": [0] * 100 + [4]}, "too many"),
    ({"size": [2, 2], "counts": None}, "counts"),
    ({"size": [2, 2], "counts": "4 "}, "character 2"),
    ({"size": [2, 2], "counts": "1P"}, "cut off"),
    ({"size": [2, 2], "counts": "PPPPPPPPPPP0"}, "too long"),
    ({"size": [2, 2], "counts": "5"}, "more than"),
    ({"size": [2, 2], "counts": "\u00e4"}, "character 1"),
    ({"size": [2], "counts": [2]}, "size"),
    ({"size": [-2, 2], "counts": [4]}, "size"),
    ({"size": [0, 2], "counts": []}, "2 x 0"),
    ({"size": [65536, 65536], "counts": [0]}, "65536 x 65536"),
    ({"size": [2000000000, 2000000000], "counts": [0]}, "2000000000"),
    ([{"size": [2, 2], "counts": [4]}, {"size": [2, 3], "counts": [6]}], "mask 2"),
    ([{"image_id": i, "segmentation": {"size": [2, 2], "counts": [4]}} for i in (1, 2)], "several pictures"),
    ({"image": {"width": 3, "height": 3}, "regions": [{"rle": {"size": [2, 2], "counts": [4]}}]}, "3 x 3"),
]


@pytest.mark.parametrize("document, says", BAD)
def test_malformed_run_lengths(satin, tmp_path, document, says):
    data = document.encode("latin-1") if isinstance(document, str) else json.dumps(document).encode()
    (tmp_path / "r.json").write_bytes(data)
    satin.bad(1, "mask", "--from-rle", "r.json", "-o", "out.png", says=["r.json", says])
    assert files_below(tmp_path) == ["r.json"]


@pytest.mark.parametrize("arguments, says", [
    (["--from-rle", "r.json"], "-o"),
    (["--from-rle", "r.json", "-o", "r.json", "--overwrite"], "same file"),
    (["--from-rle", "r.json", "-o", "out.xyz"], "out.xyz"),
    (["--from-rle", "r.json", "-o", "none/out.png"], "none"),
    (["--from-rle", "r.json", "in.png", "-o", "out.png"], "in.png"),
    (["--from-rle", "r.json", "-o", "out.png", "--invert"], "--invert"),
    (["--from-rle", "r.json", "-o", "out.png", "--label", "x"], "--label"),
    (["--from-rle", "r.json", "-o", "out.png", "--label", ""], "--label"),
    (["in.png", "-o", "out.png", "--label", "1"], "--from-rle"),
])
def test_usage_errors(satin, tmp_path, picture, arguments, says):
    (tmp_path / "r.json").write_text(json.dumps(rle(blobs(1))))
    satin.bad(2, "mask", *arguments, says=says)
    assert files_below(tmp_path) == ["in.png", "r.json"]


def test_missing_file_and_existing_output(satin, tmp_path):
    satin.bad(1, "mask", "--from-rle", "none.json", "-o", "out.png", says="none.json")
    satin.bad(1, "mask", "--from-rle", ".", "-o", "out.png", says="read")
    (tmp_path / "r.json").write_text(json.dumps(rle(blobs(1))))
    (tmp_path / "out.png").write_bytes(b"old")
    satin.bad(2, "mask", "--from-rle", "r.json", "-o", "out.png", says="--overwrite")
    assert (tmp_path / "out.png").read_bytes() == b"old"

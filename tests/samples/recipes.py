"""The recipes, on pictures whose answer is known: what was drawn is what has to come back."""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image

recipes = os.environ["SATIN_RECIPES"]
random = np.random.default_rng(8)


def run(name, *arguments):
    result = subprocess.run([os.path.join(recipes, "satin_" + name), *map(str, arguments)], capture_output=True, text=True)
    assert result.returncode == 0, (name, result.stderr)
    return result.stdout


def threshold_page(folder):
    """Strokes on paper in light that falls to a quarter: paper in the dark is darker than ink in the light."""
    height, width = 300, 400
    ink = np.zeros((height, width), bool)
    for y in range(20, 280, 24):
        for x in range(12, 380, 16):
            ink[y : y + 12, x : x + int(random.integers(2, 5))] = True
    light = np.linspace(1, 0.25, width)[None, :]
    page = np.where(ink, 60, 230) * light + random.normal(0, 1, ink.shape)
    assert page[ink].max() > page[~ink].min()
    Image.fromarray(np.clip(page, 0, 255).astype(np.uint8)).save(folder + "/page.png")
    run("threshold_page", folder + "/page.png", folder + "/ink.png")
    found = np.asarray(Image.open(folder + "/ink.png"))
    assert set(np.unique(found)) == {0, 255}
    assert ((found == 0) != ink).mean() < 0.001, ((found == 0) != ink).mean()


def focus_by_depth(folder):
    """Left at two metres, right at twenty: focus on the left keeps it, and softens the right; and the other way."""
    height, width = 120, 240
    photo = random.integers(60, 200, (height, width, 3), dtype=np.uint8)
    Image.fromarray(photo).save(folder + "/photo.png")
    depth = np.where(np.arange(width) < width // 2, 2, 20).astype("<f4")[None, :].repeat(height, 0)
    with open(folder + "/depth.pfm", "wb") as file:
        file.write(b"Pf\n%d %d\n-1\n" % (width, height) + depth[::-1].tobytes())
    left, right = np.s_[:, :90], np.s_[:, 150:]
    for x, sharp, soft in ((30, left, right), (210, right, left)):
        run("focus_by_depth", folder + "/photo.png", folder + "/depth.pfm", folder + "/out.png", x, 60)
        out = np.asarray(Image.open(folder + "/out.png"))
        assert np.array_equal(out[sharp], photo[sharp])
        assert out[soft].std() < 0.6 * photo[soft].std()


def counts_of(text):
    """COCO's compressed counts, as its description has them."""
    counts, at = [], 0
    while at < len(text):
        value = shift = 0
        more = True
        while more:
            group = ord(text[at]) - 48
            value |= (group & 31) << shift
            more, shift, at = bool(group & 32), shift + 5, at + 1
        if group & 16:
            value -= 1 << shift
        counts.append(value + counts[-2] if len(counts) > 2 else value)
    return counts


def regions_to_json(folder):
    """Rectangles that do not touch, in raster order; the smallest is left out."""
    boxes = [(3, 2, 10, 4), (30, 2, 5, 20), (8, 12, 2, 2), (10, 30, 25, 6)]
    mask = np.zeros((40, 50), np.uint8)
    for x, y, w, h in boxes:
        mask[y : y + h, x : x + w] = 255
    Image.fromarray(mask).save(folder + "/mask.png")
    regions = json.loads(run("regions_to_json", folder + "/mask.png", 5))
    wanted = [box for box in boxes if box[2] * box[3] >= 5]
    assert [tuple(region["bbox"]) for region in regions] == wanted, regions
    for label, (region, (x, y, w, h)) in enumerate(zip(regions, wanted), 1):
        assert (region["label"], region["area"]) == (label, w * h)
        assert region["centroid"] == [x + (w - 1) / 2, y + (h - 1) / 2]
        counts = counts_of(region["rle"]["counts"])
        drawn = np.repeat(np.arange(len(counts)) % 2, counts).reshape(50, 40).T
        only = np.zeros((40, 50), int)
        only[y : y + h, x : x + w] = 1
        assert region["rle"]["size"] == [40, 50] and np.array_equal(drawn, only)


with tempfile.TemporaryDirectory() as folder:
    threshold_page(folder)
    focus_by_depth(folder)
    regions_to_json(folder)
for name in ("threshold_page", "focus_by_depth", "regions_to_json"):
    result = subprocess.run([os.path.join(recipes, "satin_" + name)], capture_output=True, text=True)
    assert result.returncode == 2 and name in result.stderr
sys.exit(0)

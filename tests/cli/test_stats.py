"""satin stats and satin bins against NumPy."""
import json
import xml.etree.ElementTree as xml

import numpy as np
import pytest

import png_file
from conftest import files_below


def statistics(satin, *arguments):
    return json.loads(satin.good("stats", *arguments, "--json").stdout)


def expect_channel(found, values, percents=(1, 5, 25, 50, 75, 95, 99)):
    values = values.astype(np.float64).ravel()
    assert found["count"] == values.size
    assert (found["min"], found["max"]) == (values.min(), values.max())
    assert found["mean"] == pytest.approx(values.mean(), rel=1e-13)
    assert found["deviation"] == pytest.approx(values.std(), rel=1e-12)
    assert found["percentiles"] == pytest.approx(list(np.percentile(values, percents)), rel=1e-12)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_every_channel_of_integers(satin, tmp_path, noise, dtype):
    pixels = noise((31, 47, 3), dtype)
    png_file.write(tmp_path / "a.png", pixels)
    report = statistics(satin, "a.png")
    channels = report["files"][0]["statistics"]
    assert [c["channel"] for c in channels] == ["red", "green", "blue"]
    top = np.iinfo(dtype).max + 1
    for i, channel in enumerate(channels):
        expect_channel(channel, pixels[..., i])
        counts, _ = np.histogram(pixels[..., i], 256, (0, top))
        assert channel["histogram"] == {"lower": 0, "upper": top, "counts": counts.tolist()}


def test_floats_with_nan(satin, tmp_path):
    values = np.random.default_rng(3).normal(5, 100, (19, 23)).astype("<f4")
    values[3, 4] = values[10, 0] = np.nan
    np.save(tmp_path / "a.npy", values)
    channel = statistics(satin, "a.npy", "--percentiles", "0,12.5,100", "--bins", "10")["files"][0]["statistics"][0]
    real = values[~np.isnan(values)]
    expect_channel(channel, real, (0, 12.5, 100))
    assert channel["nan"] == 2
    assert sum(channel["histogram"]["counts"]) == real.size
    assert channel["histogram"]["lower"] == real.min() and channel["histogram"]["upper"] == real.max()


def test_mask_selects_pixels(satin, tmp_path, noise):
    pixels = noise((20, 30))
    mask = np.where(noise((20, 30), seed=2) > 200, 255, 0).astype(np.uint8)
    png_file.write(tmp_path / "a.png", pixels)
    png_file.write(tmp_path / "m.png", mask)
    expect_channel(statistics(satin, "a.png", "--mask", "m.png")["files"][0]["statistics"][0], pixels[mask != 0])


def test_empty_mask_gives_no_numbers(satin, tmp_path, noise):
    png_file.write(tmp_path / "a.png", noise((4, 5)))
    png_file.write(tmp_path / "m.png", np.zeros((4, 5), np.uint8))
    channel = statistics(satin, "a.png", "--mask", "m.png")["files"][0]["statistics"][0]
    assert channel["count"] == 0
    assert channel["mean"] is None and channel["percentiles"] == [None] * 7
    assert sum(channel["histogram"]["counts"]) == 0


def test_infinite_values_are_counted_apart(satin, tmp_path):
    values = np.array([[-np.inf, -2, 0.5], [4, np.inf, np.nan], [np.inf, 1, 0]], "<f4")
    np.save(tmp_path / "a.npy", values)
    channel = statistics(satin, "a.npy", "--bins", "3")["files"][0]["statistics"][0]
    finite = values[np.isfinite(values)].astype(float)
    assert (channel["count"], channel["nan"], channel["infinite"]) == (finite.size, 1, 3)
    assert (channel["min"], channel["max"]) == (-2, 4)
    assert channel["mean"] == pytest.approx(finite.mean()) and channel["deviation"] == pytest.approx(finite.std())
    assert channel["histogram"] == {"lower": -2, "upper": 4, "counts": [1, 3, 1]}
    assert None not in channel["percentiles"]
    text = satin.good("stats", "a.npy").stdout.decode()
    assert "3 values are infinite" in text and "1 values are NaN" in text


def test_table_and_plot_for_people(satin, tmp_path, picture):
    text = satin.good("stats", "in.png", "--plot", "plot.svg").stdout.decode()
    assert "in.png: 20 x 12, 3 x u8" in text and "deviation" in text and "green" in text
    root = xml.parse(tmp_path / "plot.svg").getroot()
    assert len(root.findall("{http://www.w3.org/2000/svg}path")) == 3
    satin.bad(2, "stats", "in.png", "--plot", "plot.svg", says=["plot.svg", "--overwrite"])


def test_one_bad_file_does_not_stop_the_others(satin, tmp_path, picture):
    (tmp_path / "bad.png").write_bytes(b"no picture")
    result = satin("stats", "bad.png", "in.png", "--json")
    assert result.returncode == 1
    report = json.loads(result.stdout)
    assert "error" in report["files"][0] and "statistics" in report["files"][1]
    assert report["exit_code"] == 1


@pytest.mark.parametrize("arguments, says", [
    (["in.png", "--percentiles", "1,101"], ["--percentiles", "100"]),
    (["in.png", "--percentiles", "1,,2"], "--percentiles"),
    (["in.png", "--bins", "0"], "--bins"),
    (["in.png", "--lower", "5", "--upper", "5"], "5"),
    ([], "input"),
    (["in.png", "in.png", "--plot", "p.svg"], "--plot"),
])
def test_usage_errors_of_stats(satin, picture, arguments, says):
    satin.bad(2, "stats", *arguments, says=says)


def test_mask_of_another_size(satin, tmp_path, picture, noise):
    png_file.write(tmp_path / "m.png", noise((5, 5)))
    satin.bad(2, "stats", "in.png", "--mask", "m.png", says=["mask", "5 x 5", "20 x 12"])


def luminance(pixels):
    red, green, blue = (pixels[..., i].astype(np.int64) for i in range(3))
    return (2126 * red + 7152 * green + 722 * blue + 5000) // 10000


def test_bins_sort_every_pixel_once(satin, tmp_path, noise):
    pixels = noise((21, 34, 3))
    png_file.write(tmp_path / "a.png", pixels)
    report = json.loads(satin.good("bins", "a.png", "-o", "zones", "--bins", "5", "--json").stdout)
    zone = np.minimum(luminance(pixels) * 5 // 256, 4)
    order = np.argsort(zone.ravel(), kind="stable")
    assert files_below(tmp_path / "zones") == ["pixels.npy", "positions.npy"] + ["zone_%d.png" % i for i in range(5)]
    assert [b["count"] for b in report["bins"]] == np.bincount(zone.ravel(), minlength=5).tolist()
    assert [b["first"] for b in report["bins"]] == [0] + np.cumsum(np.bincount(zone.ravel()))[:-1].tolist()
    for i in range(5):
        np.testing.assert_array_equal(png_file.read(tmp_path / ("zones/zone_%d.png" % i)),
                                      np.where(zone == i, 255, 0))
    np.testing.assert_array_equal(np.load(tmp_path / "zones/pixels.npy"), pixels.reshape(-1, 3)[order])
    positions = np.load(tmp_path / "zones/positions.npy")
    np.testing.assert_array_equal(positions, np.stack([order % 34, order // 34], 1))


def test_bins_of_grey_floats_with_ends_beyond(satin, tmp_path):
    values = np.array([[-1, 0, 0.25, 0.5], [0.99, 1, 7, np.inf]], "<f4")
    np.save(tmp_path / "a.npy", values)
    text = satin.good("bins", "a.npy", "-o", "zones", "--bins", "4").stdout.decode()
    assert [int(line.split(": ")[1].split()[0]) for line in text.splitlines()] == [2, 1, 1, 4]
    np.testing.assert_array_equal(np.load(tmp_path / "zones/pixels.npy").ravel(), values.ravel())


@pytest.mark.parametrize("arguments, says", [
    (["in.png"], "-o"),
    (["in.png", "-o", "in.png"], "in.png"),
    (["in.png", "./in.png", "-o", "zones"], "both"),
    (["in.png", "-o", "zones", "--bins", "0"], "--bins"),
    (["in.png", "-o", "zones", "--lower", "9", "--upper", "9"], "9"),
])
def test_usage_errors_of_bins(satin, tmp_path, picture, arguments, says):
    satin.bad(2, "bins", *arguments, says=says)
    assert files_below(tmp_path) == ["in.png"]


def test_bins_do_not_replace_files(satin, tmp_path, picture):
    satin.good("bins", "in.png", "-o", "zones")
    satin.bad(2, "bins", "in.png", "-o", "zones", says=["zone_0.png", "--overwrite"])
    satin.good("bins", "in.png", "-o", "zones", "--overwrite")


def test_bins_of_several_pictures(satin, tmp_path, noise):
    (tmp_path / "in" / "sub").mkdir(parents=True)
    for seed, name in enumerate(["a.png", "sub/b.png"]):
        png_file.write(tmp_path / "in" / name, noise((5, 7, 3), seed=seed))
        satin.good("bins", "in/" + name, "-o", "one/" + name[:-4], "--bins", "3")
    (tmp_path / "in" / "c.png").write_bytes(b"broken")
    result = satin("bins", "in", "-r", "-o", "all", "--bins", "3", "--json")
    assert result.returncode == 1 and "c.png" in result.error
    report = json.loads(result.stdout)
    assert [len(entry.get("bins", [])) for entry in report["files"]] == [3, 0, 3] and report["exit_code"] == 1
    names = files_below(tmp_path / "one")
    assert files_below(tmp_path / "all") == names and len(names) == 10
    for name in names:
        assert (tmp_path / "all" / name).read_bytes() == (tmp_path / "one" / name).read_bytes()
    satin.bad(2, "bins", "in/a.png", "in/sub/b.png", "-o", "all/sub", says=["zone_0.png", "--overwrite"])
    png_file.write(tmp_path / "in" / "a.tga.png", noise((5, 7), seed=3))
    (tmp_path / "in" / "a.tga").write_bytes(b"broken")
    (tmp_path / "in" / "a.jpg").write_bytes(b"broken")
    satin.bad(2, "bins", "in", "-o", "new", says="new/a")
    assert not (tmp_path / "new").exists()

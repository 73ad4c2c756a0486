"""satin threshold on a scanned page, against the ground truth and another implementation's results."""
from pathlib import Path

import numpy as np
import pytest

import png_file

DOCUMENT = Path(__file__).resolve().parents[3] / "shared" / "data" / "document"
METHODS = {"otsu": "Otsu", "niblack": "Niblack", "sauvola": "Sauvola", "wolf": "Wolf", "nick": "NICK"}


def read_pbm(path):
    """True where the ink is."""
    data = path.read_bytes()
    fields = []
    at = 0
    while len(fields) < 3:
        while data[at:at + 1].isspace():
            at += 1
        if data[at:at + 1] == b"#":
            at = data.index(b"\n", at)
            continue
        end = at
        while not data[end:end + 1].isspace():
            end += 1
        fields.append(data[at:end])
        at = end
    assert fields[0] == b"P4"
    width, height = int(fields[1]), int(fields[2])
    rows = np.frombuffer(data, np.uint8, offset=at + 1)[: height * ((width + 7) // 8)].reshape(height, -1)
    return np.unpackbits(rows, axis=1)[:, :width].astype(bool)


def f_measure(found, truth):
    hits = np.count_nonzero(found & truth)
    return 200.0 * hits / (np.count_nonzero(found) + np.count_nonzero(truth))


@pytest.mark.skipif(not DOCUMENT.is_dir(), reason="the scanned document is not on this machine")
@pytest.mark.parametrize("method", METHODS)
def test_scanned_page_is_as_good_as_another_implementation(satin, tmp_path, method):
    """The parameters of the other one are not known: ours are those of a coarse search."""
    truth = read_pbm(DOCUMENT / "2JohnC1V3-GroundTruth.pbm")
    other = f_measure(read_pbm(DOCUMENT / ("2JohnC1V3-%s.pbm" % METHODS[method])), truth)
    settings = {"sauvola": ["--window", "121", "--k", "0.15"], "niblack": ["--window", "201", "--k", "-0.7"],
                "wolf": ["--window", "75"], "nick": ["--window", "75"], "otsu": []}
    satin.good("threshold", DOCUMENT / "2JohnC1V3.ppm", "-o", "out.png", "--method", method, *settings[method])
    ours = f_measure(png_file.read(tmp_path / "out.png").squeeze() == 0, truth)
    print("%s: F-measure %.2f, the other implementation %.2f" % (method, ours, other))
    assert ours > other - 1.0


def test_defaults_are_sauvola_with_a_window_of_31(satin, tmp_path, noise):
    png_file.write(tmp_path / "a.png", noise((40, 50, 3)))
    satin.good("threshold", "a.png", "-o", "default.png")
    satin.good("threshold", "a.png", "-o", "told.png", "--method", "sauvola", "--window", "31", "--k", "0.2",
               "--range", "128", "--border", "shrink")
    assert (tmp_path / "default.png").read_bytes() == (tmp_path / "told.png").read_bytes()
    assert set(np.unique(png_file.read(tmp_path / "default.png"))) <= {0, 255}


@pytest.mark.parametrize("arguments, says", [
    (["--window", "30"], ["window 30", "odd"]),
    (["--window", "0"], "--window"),
    (["--method", "savola"], "sauvola"),
    (["--border", "constant"], "--border"),
    (["--k", "much"], "--k"),
])
def test_usage_errors(satin, picture, arguments, says):
    satin.bad(2, "threshold", "in.png", "-o", "out.png", *arguments, says=says)

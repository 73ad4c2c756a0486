"""The texts of the command for people: examples that run, words of other programs, mistakes and their remedies."""
import json
import os
import shlex
import subprocess

import numpy as np
import pytest

import png_file
from conftest import BINARY, FULL_CODECS

WORDS = {"gaussian": "blur --sigma", "sharpen": "unsharp", "bokeh": "dof", "despeckle": "median", "denoise": "median",
         "binarize": "threshold", "pixelate": "redact", "thumbnail": "resize", "trim": "crop", "rotate": "libvips", "histogram": "stats",
         "bilateral": "edge-smooth", "contours": "regions", "clahe": "stretch", "cumsum": "integral",
         "Gaussian_Blur": "blur --sigma", "median-blur": "median", "motion-blur": "20x0", "grayscale": "ImageMagick",
         "canny": "local-deviation", "inpaint": "GIMP", "bw": "satin threshold", "desaturate": "magick", "grey": "vips colourspace",
         "strip": "satin convert photo.jpg -o bare.jpg --strip", "dust": "satin closing", "remove-specks": "satin median",
         "chroma-key": "ffmpeg ('chromakey')", "faces": "satin redact --box", "remove-background": "rembg",
         "white-balance": "darktable", "watermark": "-composite", "vignette": "-vignette", "Rotate": "-rotate 90",
         "compare": "magick compare -metric PSNR", "hdr": "enfuse", "glow": "satin dof --highlights"}


@pytest.fixture
def pictures(satin, noise):
    """The files that the examples name."""
    image = pytest.importorskip("PIL.Image")
    y, x = np.mgrid[0:90, 0:120]
    photo = np.stack([(x * 2) % 256, (y * 2) % 256, noise((90, 120), np.uint8, 3)], axis=2).astype(np.uint8)
    image.fromarray(photo).save(satin.folder / "photo.jpg", quality=95)
    png_file.write(satin.folder / "depth.png", (x * 2).astype(np.uint8))
    png_file.write(satin.folder / "mask.png", np.where((x // 20 + y // 20) % 3 == 0, 255, 0).astype(np.uint8))
    png_file.write(satin.folder / "page.png", np.where(noise((90, 120), np.uint8, 4) > 200, 30, 220).astype(np.uint8))
    sky = noise((32, 64, 3), np.uint8, 5).astype("<f4") / 255
    (satin.folder / "sky.pfm").write_bytes(b"PF\n64 32\n-1.0\n" + sky.tobytes())
    return satin.folder


def examples_of(satin, name):
    page = satin.good("help", name).stdout.decode()
    return [line.strip() for line in page.partition("\nExamples\n")[2].splitlines() if line.strip()]


def test_examples_of_every_filter_run_in_one_folder(satin, pictures):
    names = [filter_["name"] for filter_ in json.loads(satin.good("list", "--json").stdout)["filters"]]
    lines = [line for name in names + ["run", "convert", "info", "bench"] for line in examples_of(satin, name)]
    assert len(lines) == 2 * (len(names) + 4)
    manual = satin.good("man").stdout.decode().replace("\\-", "-")
    for line in lines:
        assert line in manual
        result = satin(*shlex.split(line)[1:])
        assert result.returncode == 0, (line, result.error)


def test_nothing_and_the_words_that_programs_know(satin):
    nothing = satin.bad(2, says=["satin blur photo.jpg", "--help"])
    assert nothing.stdout == b""
    assert satin.good("help").stdout == satin.good("--help").stdout
    assert satin.good("help", "blur").stdout == satin.good("blur", "--help").stdout
    assert satin.good("version").stdout == satin.good("-V").stdout == satin.good("--version").stdout
    assert satin.good("help", "help").stdout == satin.good("help").stdout
    satin.bad(2, "help", "blurr", says="blur")
    satin.bad(2, "hlep", says="'help'")
    satin.bad(2, "blur", says=["Usage: satin blur INPUT... -o OUTPUT", "satin help blur"])
    assert b"bash-completion" in satin.good("completion", "--help").stdout


@pytest.mark.parametrize("word", sorted(WORDS))
def test_words_of_other_programs(satin, word):
    satin.bad(2, word, "photo.jpg", "-o", "out.jpg", says=["'%s'" % word, WORDS[word]])


def mistakes(folder):
    """Arguments, exit code, and what the message must say: what, where, and what to do."""
    (folder / "text.jpg").write_text("no picture")
    (folder / "empty.png").write_bytes(b"")
    (folder / "small.png").write_bytes((folder / "depth.png").read_bytes()[:60])
    png_file.write(folder / "narrow.png", np.zeros((90, 50), np.uint8))
    return [
        (["blurr", "photo.jpg", "-o", "x.jpg"], 2, ["blurr", "'blur'"]),
        (["blur", "foto.jpg", "-o", "x.jpg"], 1, ["foto.jpg", "does not exist"]),
        (["blur", "photo.jpg"], 2, ["-o"]),
        (["blur", "photo.jpg", "soft.jpg"], 2, ["-o soft.jpg"]),
        (["photo.jpg", "-o", "x.jpg"], 2, ["The filter comes first", "satin blur photo.jpg"]),
        (["stats", "photo.jpg", "-o", "stats.json"], 2, ["> FILE"]),
        (["blur", "photo.jpg", "-o", "photo.jpg"], 2, ["photo.jpg"]),
        (["blur", "photo.jpg", "-o", "depth.png"], 2, ["depth.png", "--overwrite"]),
        (["blur", "photo.jpg", "-o", "x.jpg", "--radios", "3"], 2, ["--radios", "--radius"]),
        (["blur", "photo.jpg", "-o", "x.jpg", "-radius", "3"], 2, ["-radius", "'--radius'"]),
        (["blur", "photo.jpg", "-o", "x.jpg", "--quality", "90"], 2, ["'--jpeg-quality'"]),
        (["blur", "photo.jpg", "-o", "x.jpg", "--radius", "many"], 2, ["many", "radius"]),
        (["blur", "photo.jpg", "-o", "x.jpg", "--radius", "-3"], 2, ["-3", "0"]),
        (["blur", "photo.jpg", "-o", "x.jpg", "-r", "12"], 2, ["--radius 12", "--recursive"]),
        (["blur", "photo.jpg", "-o", "x.jpg", "--border", "mirrored"], 2, ["mirrored", "mirror"]),
        (["blur", "photo.jpg", "-o", "x.jpg", "--radius-map", "depth.png"], 2, ["radius-max"]),
        (["blur", "photo.jpg", "-o", "x.jpg", "--radius-map", "narrow.png", "--radius-max", "9"], 2,
         ["narrow.png", "50 x 90", "120 x 90"]),
        (["blur", "photo.jpg", "-o", "nowhere/x.jpg"], 2, ["nowhere", "Create"]),
        (["blur", "photo.jpg", "-o", "x.xyz"], 2, [".xyz", ".png"]),
        (["blur", "text.jpg", "-o", "x.jpg"], 1, ["text.jpg"]),
        (["blur", "empty.png", "-o", "x.jpg"], 1, ["empty.png"]),
        (["blur", "small.png", "-o", "x.png"], 1, ["small.png"]),
        (["dof", "photo.jpg", "-o", "x.jpg", "--focus", "0.5"], 2, ["depth", "--depth"]),
        (["threshold", "page.png", "-o", "x.png", "--window", "30"], 2, ["30", "odd", "31"]),
        (["blur", "photo.jpg", "-o", "x.jpg", "--device", "cuda:99"], 3, ["cuda:99"]),
        (["run", "blur radius=3 | sharpen", "photo.jpg", "-o", "x.jpg"], 2, ["sharpen", "satin unsharp"]),
        (["bench", "sharpen"], 2, ["satin unsharp"]),
        (["run", "photo.jpg", "-o", "x.jpg"], 2, ["no pipeline before 'photo.jpg'"]),
        (["median", "photo.jpg", "-o", "x.jpg", "--radius", "2.5"], 2, ["2.5", "whole"]),
        (["blur", "photo.jpg", "12", "-o", "x.jpg"], 2, ["no file '12'. Did you mean --radius 12?"]),
        (["blur", "photo.jpg", "12"], 2, ["Did you mean --radius 12?"]),
        (["dof", "photo.jpg", "3%", "--depth", "depth.png", "-o", "x.jpg"], 2, ["Did you mean --strength 3%?"]),
        (["resize", "photo.jpg", "1200x630", "-o", "x.jpg"], 2, ["Did you mean --size 1200x630?"]),
        (["blur", "photo.jpg", "-q", "90", "-o", "x.jpg"], 2, ["-q means --quiet. Did you mean --jpeg-quality 90?"]),
        (["run", "blur", "photo.jpg", "-q", "90", "-o", "x.jpg"], 2, ["Did you mean --jpeg-quality 90?"]),
        (["dof", "photo.jpg", "--depth", "depth.png", "--aperture", "1.4", "-o", "x.jpg"], 2, ["Did you mean --f-number 1.4?"]),
        (["dof", "photo.jpg", "--depth", "depth.png", "--aperture", "f/2", "-o", "x.jpg"], 2, ["Did you mean --f-number 2?"]),
        (["dof", "photo.jpg", "--depth", "depth.png", "--aperture", "none.png", "-o", "x.jpg"], 1, ["none.png", "does not exist"]),
        (["dof", "photo.jpg", "--depth", "depth.png", "--fstop", "1.4", "-o", "x.jpg"], 2, ["Did you mean '--f-number'?"]),
        (["blur", "photo.jpg", "--fstop", "1.4", "-o", "x.jpg"], 2, ["Unknown option --fstop.\n"]),
        (["blur", "photo.jpg", "-o", "x.jpg", "--force"], 2, ["Did you mean '--overwrite'?"]),
        (["blur", "photo.jpg", "-o", "x.jpg", "--radius", "3,"], 2, ["did you mean '3'?"]),
        (["blur", "photo.jpg", "-o", "x.jpg", "--sigma", "2.5,"], 2, ["did you mean '2.5'?"]),
        (["tilt-shift", "photo.jpg", "-o", "x.jpg", "--band", "8%,"], 2, ["did you mean '8%'?"]),
        (["regions", "mask.png", "-o", "r.csv"], 2, ["r.csv", "is JSON, not csv", ".json"]),
        (["regions", "mask.png", "-o", "r.png"], 2, ["is JSON, not png", "--labels"]),
        (["run", "threshold | regions", "page.png", "-o", "r.csv"], 2, ["r.csv", "of regions is JSON, not csv", ".json"]),
        (["run", "blur | stats", "photo.jpg", "-o", "{stem}.PNG"], 2, ["of stats is JSON, not PNG", ".json"]),
        (["blur", "photo.jpg", "-o", "x.jpg", "--invert-mask"], 2, ["no mask is read", "--mask FILE"]),
        (["run", "unsharp", "photo.jpg", "-o", "x.jpg", "--invert-mask"], 2, ["no mask is read"]),
        (["blur", "photo.jpg", "-o", "x.jpg", "--mask-from", "matte", "--invert-mask"], 2, ["--mask-from background"]),
        (["threshold", "page.png", "-o", "x.png", "--invert-mask"], 2, ["Unknown option --invert-mask"]),
    ]


def test_mistakes_say_what_where_and_what_to_do(satin, pictures):
    for arguments, code, says in mistakes(pictures):
        satin.bad(code, *arguments, says=says, lines=3)
    assert not (pictures / "x.jpg").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_folders_that_may_not_be_written(satin, pictures):
    (pictures / "closed").mkdir(mode=0o500)
    satin.bad(1, "blur", "photo.jpg", "-o", "closed/x.jpg", says="closed")

"""--jpeg-decoder: what decodes JPEG files. What it decodes on a GPU, tests/io/nvjpeg_test.cpp looks at."""
import os
import re

import pytest

BLUR = ("blur", "in.png", "-o", "out.png", "--radius", "2")
DEVICE = os.environ.get("SATIN_TEST_DEVICE", "cpu")


def has_nvjpeg(satin):
    return "SATIN_NVJPEG=ON" not in satin(*BLUR, "--jpeg-decoder", "nvjpeg", "--dry-run").error


def test_libjpeg_is_the_default(satin, picture):
    satin.good(*BLUR)
    expected = (satin.folder / "out.png").read_bytes()
    satin.good(*BLUR, "--overwrite", "--jpeg-decoder", "libjpeg")
    assert (satin.folder / "out.png").read_bytes() == expected


def test_other_names_are_refused(satin, picture):
    satin.bad(2, *BLUR, "--jpeg-decoder", "nvjpg", says=["--jpeg-decoder", "nvjpeg"])
    satin.bad(2, "stats", "in.png", "--jpeg-decoder", "nvjpeg", says="--jpeg-decoder")


@pytest.mark.parametrize("device", ["cpu", "cpu,cpu"])
def test_a_cpu_is_refused(satin, picture, device):
    satin.bad(2, *BLUR, "--jpeg-decoder", "nvjpeg", "--device", device, says=["GPU", "--device cuda:N", device])
    assert not (satin.folder / "out.png").exists()


def test_a_build_without_it_says_so(satin, picture):
    if has_nvjpeg(satin):
        pytest.skip("this build has nvJPEG")
    for options in (), ("--device", "cuda:0"), ("--device", "auto"), ("--dry-run",):
        satin.bad(3, *BLUR, "--jpeg-decoder", "nvjpeg", *options, says=["nvJPEG", "SATIN_NVJPEG=ON", "libjpeg"])
    assert not (satin.folder / "out.png").exists()
    satin.bad(3, "run", "blur radius=2", "in.png", "-o", "out.png", "--jpeg-decoder", "nvjpeg", says="SATIN_NVJPEG=ON")


def test_help_knows_it(satin):
    for arguments in ("blur", "--help"), ("run", "--help"), ("man",), ("completion", "bash"):
        text = satin.good(*arguments).stdout.decode().replace("\\-", "-")
        assert "--jpeg-decoder" in text, arguments
    assert re.search(r"--jpeg-decoder NAME[^-]*libjpeg", satin.good("blur", "--help").stdout.decode())


def test_batch_on_a_gpu(satin):
    if not DEVICE.startswith("cuda"):
        pytest.skip("SATIN_TEST_DEVICE names no GPU")
    image = pytest.importorskip("PIL.Image")
    numpy = pytest.importorskip("numpy")
    (satin.folder / "in").mkdir()
    (satin.folder / "in.png").write_bytes(b"")
    if not has_nvjpeg(satin):
        pytest.skip("this build has no nvJPEG")
    across, down = numpy.meshgrid(numpy.arange(1500), numpy.arange(1000))
    pixels = numpy.stack([across % 256, down % 256, (across + down) % 256], axis=2).astype(numpy.uint8)
    for i in range(12):
        image.fromarray(numpy.roll(pixels, 40 * i, axis=1)).save(satin.folder / "in" / ("%d.jpg" % i), quality=92)
    options = ("in", "--radius", "3", "--device", DEVICE, "--format", "png")
    satin.good("blur", *options, "-o", "usual")
    satin.good("blur", *options, "-o", "nvjpeg", "--jpeg-decoder", "nvjpeg", "--resume")
    for i in range(12):
        usual, other = (numpy.asarray(image.open(satin.folder / name / ("%d.png" % i))).astype(int)
                        for name in ("usual", "nvjpeg"))
        assert usual.shape == other.shape
        assert abs(usual - other).mean() < 1
    again = satin.good("blur", *options, "-o", "nvjpeg", "--jpeg-decoder", "nvjpeg", "--resume", "--json").stdout
    assert again.count(b'"unchanged"') == 12
    again = satin.good("blur", *options, "-o", "nvjpeg", "--resume", "--json").stdout
    assert again.count(b'"done"') >= 12, "what nvJPEG decoded is made again by libjpeg"

"""Standard input, standard output, and other printed text."""
import os
import pty

import numpy as np
import pytest

import png_file
from oracle import box_blur

OPTIONS = ("--radius", "2", "--space", "encoded")


def test_from_and_to_a_pipe(satin, noise):
    array = noise((6, 8, 3))
    result = satin.good("blur", "-", "-o", "-", "--format", "png", *OPTIONS, stdin=png_file.encode(array))
    assert np.array_equal(png_file.decode(result.stdout), box_blur(array, 2))
    assert result.stderr == b""


def test_a_pipe_keeps_the_format_of_its_input(satin, noise):
    array = noise((6, 8, 3))
    png = satin.good("blur", "-", "-o", "-", *OPTIONS, stdin=png_file.encode(array)).stdout
    assert np.array_equal(png_file.decode(png), box_blur(array, 2))
    ppm = satin.good("blur", "-", "-o", "-", *OPTIONS, stdin=b"P6\n8 6\n255\n" + array.tobytes()).stdout
    assert ppm == b"P6\n8 6\n255\n" + box_blur(array, 2).tobytes()
    table = satin.good("integral", "-", "-o", "-", stdin=png_file.encode(array)).stdout
    assert table.startswith(b"\x93NUMPY")
    bmp = satin.good("blur", "-", "-o", "-", "--format", "bmp", *OPTIONS, stdin=png).stdout
    assert bmp[:2] == b"BM"


def test_a_named_pipe_is_no_output_but_an_open_one_is(satin, picture):
    os.mkfifo(satin.folder / "pipe.png")
    satin.bad(2, "blur", "in.png", "-o", "pipe.png", says=["pipe.png", "named pipe", "-o -"])
    satin.bad(2, "blur", "in.png", "-o", "pipe.png", "--overwrite", says="named pipe")
    satin.bad(2, "regions", "in.png", "-o", "pipe.png", says="named pipe")
    (satin.folder / "folder.png").mkdir()
    satin.bad(2, "run", "blur", "in.png", "-o", "folder.png/../folder.png/../in.png/x.png", says="in.png")
    ours, theirs = os.pipe()
    png = satin.start("blur", "in.png", "-o", "/dev/fd/%d" % theirs, "--format", "png", pass_fds=[theirs])
    os.close(theirs)
    with open(ours, "rb") as result:
        assert result.read().startswith(b"\x89PNG")
    assert png.wait() == 0


def test_an_error_is_told_once(satin, picture):
    with open("/dev/full", "wb") as full:
        for line in ("blur", "in.png", "-o", "out.png"), ("regions", "in.png"), ("stats", "in.png"), ("list",):
            error = satin(*line, "--json", stdout=full).error
            assert len(error.splitlines()) == 1 and "tandard output" in error


def test_from_a_pipe_to_a_file(satin, noise):
    array = noise((6, 8))
    satin.good("blur", "-", "-o", "out.png", *OPTIONS, stdin=png_file.encode(array))
    assert np.array_equal(png_file.read(satin.folder / "out.png"), box_blur(array, 2))


def test_from_a_file_to_a_pipe(satin, picture):
    result = satin.good("blur", "in.png", "-o", "-", *OPTIONS)
    assert np.array_equal(png_file.decode(result.stdout), box_blur(png_file.read(picture), 2))


def test_map_from_a_pipe(satin, picture):
    mask = png_file.encode(np.zeros((12, 20), np.uint8))
    satin.good("blur", "in.png", "-o", "out.png", "--mask", "-", *OPTIONS, stdin=mask)
    assert np.array_equal(png_file.read(satin.folder / "out.png"), png_file.read(picture))


def test_streams_that_cannot_be(satin, picture):
    data = picture.read_bytes()
    satin.bad(2, "blur", "-", "in.png", "-o", "out", stdin=data, says="tandard input")
    satin.bad(2, "blur", "-", "-o", "out/", stdin=data, says="tandard input")
    satin.bad(2, "blur", "-", "-o", "out.png", "--mask", "-", stdin=data, says="--mask")
    satin.bad(2, "blur", "in.png", "-o", "-", "--json", says="--json")


@pytest.mark.parametrize("data", [b"", b"no picture"])
def test_bad_standard_input(satin, data):
    result = satin.bad(1, "blur", "-", "-o", "-", "--format", "png", stdin=data, says="tandard input")
    assert result.stdout == b""


def test_silence_on_success(satin, picture):
    result = satin.good("blur", "in.png", "-o", "out.png")
    assert result.stdout == b"" and result.stderr == b""


def errors_on_a_terminal(satin, **environment):
    satin.environment.update(TERM="xterm", **environment)
    main, side = pty.openpty()
    satin("blur", "none.png", "-o", "out.png", stderr=side)
    os.close(side)
    text = os.read(main, 10000)
    os.close(main)
    return text


def test_colour_on_a_terminal_only(satin):
    assert b"\x1b[" in errors_on_a_terminal(satin)
    assert b"\x1b[" not in errors_on_a_terminal(satin, NO_COLOR="1")
    assert b"\x1b" not in satin("blur", "none.png", "-o", "out.png").stderr


def test_no_picture_on_a_terminal(satin, picture):
    main, side = pty.openpty()
    satin.bad(2, "blur", "in.png", "-o", "-", stdout=side, says="terminal")
    os.close(side)
    os.close(main)

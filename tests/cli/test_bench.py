"""satin bench: what it prints and what it refuses. Times are not checked."""
import json
import os
import re

import pytest

LAYOUTS = ["grey", "RGB", "RGBA", "RGBX", "pitch", "planar"]
TINY = ("--size", "32x24", "--device", "cpu")


def registered(satin):
    return json.loads(satin.good("list", "--json").stdout)["filters"]


def timed_by_default(satin):
    """Those that make a picture or a table."""
    return [filter_["name"] for filter_ in registered(satin) if filter_["output"] != "json"]


def rows_of_json(satin, *arguments):
    return json.loads(satin.good("bench", *arguments, "--json").stdout)


def assert_measured(row):
    assert row["status"] == "done"
    assert row["seconds"] > 0 and row["copy_seconds"] > 0
    assert row["bytes_per_second"] == pytest.approx(row["bytes"] / row["seconds"])
    assert row["share_of_copy"] == pytest.approx(row["copy_seconds"] / row["seconds"])


def test_table_has_a_row_for_every_filter(satin):
    heading, empty, titles, *rows = satin.good("bench", *TINY).stdout.decode().splitlines()
    assert heading.startswith("cpu (") and "32 x 24, 3 x u8, photograph" in heading and empty == ""
    assert titles.split() == ["filter", "ms", "GB/s", "of", "copy", "ns/pixel"]
    assert [row.split()[0] for row in rows] == timed_by_default(satin)
    for row in rows:
        numbers = row.replace("%", "").split()[1:]
        assert len(numbers) == 4 and all(float(number) >= 0 for number in numbers)
        assert len(row) == len(titles)


def test_json(satin):
    report = rows_of_json(satin, *TINY, "--type", "u16", "--channels", "4", "--threads", "1")
    assert report["status"] == "done" and report["exit_code"] == 0
    assert report["device"]["id"] == "cpu" and "1 thread" in report["device"]["name"]
    assert report["picture"] == {"width": 32, "height": 24, "channels": 4, "type": "u16"}
    assert report["repeats"] >= 11 and report["input"] == "photograph"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", report["date"]) and "commit" in report
    machine = report["machine"]
    assert machine["cores"] == len(os.sched_getaffinity(0)) and machine["simd"] in report["device"]["name"]
    assert isinstance(machine["cpu"], str) and machine["gpu"] is None
    assert [row["filter"] for row in report["filters"]] == timed_by_default(satin)
    for row in report["filters"]:
        assert_measured(row)
    assert [row["side_inputs"] for row in report["filters"] if row["filter"] == "dof"] == [["depth"]]


def test_bytes_are_those_that_must_move(satin):
    pixels = 32 * 24
    plain = rows_of_json(satin, "blur", *TINY)["filters"][0]
    assert plain["bytes"] == pixels * (3 + 3) and plain["side_inputs"] == []
    mapped = rows_of_json(satin, "blur", *TINY, "--radius-map", "--radius-max", "4", "--mask")["filters"][0]
    assert mapped["bytes"] == pixels * (3 + 3 + 1 + 1) and mapped["side_inputs"] == ["radius-map", "mask"]
    table = rows_of_json(satin, "integral", *TINY)["filters"][0]
    assert table["bytes"] == pixels * (3 + 3 * 4)


def test_noise_in_place_of_a_photograph(satin):
    report = rows_of_json(satin, "dof", "--depth", *TINY, "--input", "noise")
    assert report["input"] == "noise"
    assert_measured(report["filters"][0])


def test_every_filter_alone_with_its_own_options(satin):
    for filter_ in registered(satin):
        text = satin.good("bench", filter_["name"], "--help").stdout.decode()
        for option in filter_["parameters"] + filter_["inputs"]:
            assert "--" + option["name"] in text
    row = rows_of_json(satin, *TINY, "blur", "--radius=2.5", "--border", "wrap")["filters"][0]
    assert row["filter"] == "blur"
    assert row["parameters"]["radius"] == "2.5" and row["parameters"]["border"] == "wrap"


@pytest.mark.parametrize("type_", ["u8", "u16", "f32"])
@pytest.mark.parametrize("channels", [1, 2])
def test_types_of_pictures(satin, type_, channels):
    for row in rows_of_json(satin, "--size", "1x1", "--device", "cpu", "--type", type_, "--channels", channels)["filters"]:
        assert row["status"] in ("done", "refused")


def test_boxes_that_nobody_names_are_made_up(satin):
    every = {row["filter"]: row for row in rows_of_json(satin, *TINY)["filters"]}
    alone = rows_of_json(satin, "redact", *TINY)["filters"][0]
    for row in every["redact"], alone:
        assert_measured(row)
        assert row["parameters"]["box"] == "8,6,16,12"
    assert rows_of_json(satin, "redact", *TINY, "--box", "1,2,3,4")["filters"][0]["parameters"]["box"] == "1,2,3,4"
    assert_measured(rows_of_json(satin, "redact", *TINY, "--mask")["filters"][0])


def test_types(satin):
    report = rows_of_json(satin, *TINY, "--types", "--threads", "1")
    assert [row["filter"] for row in report["filters"]] == timed_by_default(satin)
    for row in report["filters"]:
        assert_measured(row)
    cells = {(cell["filter"], cell["type"], cell["layout"]): cell for cell in report["types"]}
    assert list(cells) == [(filter_, type_, layout) for filter_ in timed_by_default(satin) for type_ in ("u8", "u16", "f32") for layout in LAYOUTS]
    for (filter_, type_, layout), cell in cells.items():
        base = cells[filter_, "u8", "RGB"]
        assert base["ratio"] == 1 and base["seconds"] > 0
        assert cell["seconds"] is None if cell["ratio"] is None else cell["seconds"] > 0 and cell["ratio"] > 0


def test_types_of_one_filter(satin):
    heading, empty, titles, *rows = satin.good("bench", "blur", *TINY, "--types", "--radius", "3", "--mask").stdout.decode().splitlines()
    assert "32 x 24, 3 x u8, photograph" in heading and empty == ""
    assert titles.split() == ["filter", "type", "ms", *LAYOUTS]
    assert [row.split()[:2] for row in rows] == [["blur", "u8"], ["blur", "u16"], ["blur", "f32"]]
    assert all(float(number) > 0 for row in rows for number in row.split()[2:]) and rows[0].split()[4] == "1.00"
    report = rows_of_json(satin, "blur", *TINY, "--types", "--input", "noise", "--radius", "3", "--mask")
    assert report["filters"][0]["side_inputs"] == ["mask"] and report["filters"][0]["parameters"]["radius"] == "3"
    assert len(report["types"]) == 18 and {cell["filter"] for cell in report["types"]} == {"blur"}
    assert "types" not in rows_of_json(satin, "blur", *TINY)


def test_pictures_that_a_filter_refuses_have_no_time(satin):
    lines = satin.good("bench", "integral", "--modulo", "32", *TINY, "--types").stdout.decode().splitlines()
    assert lines[-1].split() == ["integral", "f32"] + 7 * ["-"] and "-" not in lines[-2]
    cells = rows_of_json(satin, "integral", "--modulo", "32", *TINY, "--types")["types"]
    assert {cell["type"] for cell in cells if cell["ratio"] is None} == {"f32"} == {cell["type"] for cell in cells if cell["seconds"] is None}


def test_help(satin):
    text = satin.good("bench", "--help").stdout.decode()
    for option in ("--size", "--type", "--channels", "--input", "--device", "--threads", "--json", "photograph"):
        assert option in text
    assert "--radius" not in text.split("Options\n")[1].split("\n\n")[0]
    assert max(map(len, text.splitlines())) <= 120
    assert "bench" in satin.good("--help").stdout.decode()
    assert b"bench [FILTER]" in satin.good("man").stdout


def test_refusals(satin):
    satin.bad(2, "bench", "blurr", "--radius", "3", says=["blurr", "'blur'"])
    satin.bad(2, "bench", "blur", "integral", *TINY, says="one filter")
    satin.bad(2, "bench", *TINY, "--radius", "3", says=["--radius", "satin help bench"])
    satin.bad(2, "bench", "blur", *TINY, "--radus", "3", says="--radius")
    satin.bad(2, "bench", "blur", *TINY, "--radius", "-1", says="--radius")
    satin.bad(2, "bench", "blur", *TINY, "--radius-max", "4", says="radius map")
    satin.bad(2, "bench", "blur", *TINY, "--radius-map", "depth.png", "--radius-max", "4", says="depth.png")
    satin.bad(2, "bench", *TINY, "--type", "u9", says=["--type", "u8"])
    satin.bad(2, "bench", *TINY, "--channels", "5", says="--channels")
    satin.bad(2, "bench", *TINY, "--types", "--type", "u8", says=["--types", "--type"])
    satin.bad(2, "bench", "blur", *TINY, "--channels", "1", "--types", says=["--types", "--channels"])
    satin.bad(2, "bench", "blurr", *TINY, "--types", says=["blurr", "'blur'"])
    satin.bad(2, "bench", "blur", *TINY, "--types", "--radius-max", "4", says="radius map")
    satin.bad(2, "bench", "stats", *TINY, "--types", says="JSON")
    satin.bad(2, "bench", *TINY, "--input", "photo", says=["--input", "photograph"])
    satin.bad(2, "bench", *TINY, "--threads", "0", says="--threads")
    satin.bad(2, "bench", "--device", "gpu", says="cuda:N")
    satin.bad(3, "bench", "--device", "cuda:99", says="cuda")


@pytest.mark.parametrize("size", ["64", "64x", "x64", "0x8", "-3x4", "8x8x8", "1e3x4", "16777216x16777216", "64X64"])
def test_bad_size(satin, size):
    satin.bad(2, "bench", "--size", size, says="--size")


def test_refusal_as_json(satin):
    report = json.loads(satin.bad(2, "bench", "--size", "0x0", "--json", says="--size").stdout)
    assert report["status"] == "failed" and report["exit_code"] == 2 and "--size" in report["error"]["message"]

"""Help, lists, completions and the manual page: all made from the registry."""
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest


def registered(satin):
    return json.loads(satin.good("list", "--json").stdout)["filters"]


def test_version(satin):
    assert re.fullmatch(r"satin \d+\.\d+\.\d+\n", satin.good("--version").stdout.decode())


def test_overview(satin):
    text = satin.good("--help").stdout.decode()
    for filter_ in registered(satin):
        assert filter_["name"] in text
    assert satin.good("-h").stdout.decode() == text


def test_help_of_every_filter(satin):
    for filter_ in registered(satin):
        text = satin.good(filter_["name"], "--help").stdout.decode()
        for parameter in filter_["parameters"] + filter_["inputs"]:
            assert "--" + parameter["name"] in text
            assert parameter["help"].split()[0] in text
        for option in ("--device", "--threads", "--overwrite", "--json"):
            assert option in text
        assert filter_["output"] == "json" or ("--output" in text and "--quiet" in text)
        assert max(map(len, text.splitlines())) <= 120
        assert len(text.splitlines()) < 120


def test_help_of_every_option_names_its_subject(satin):
    for filter_ in registered(satin):
        for parameter in filter_["parameters"]:
            assert not re.match(r"(of|by|in|with|for) ", parameter["help"]), (filter_["name"], parameter["name"])


def test_records_have_a_group_and_a_rank(satin):
    records = {filter_["name"]: filter_ for filter_ in registered(satin)}
    for filter_ in records.values():
        groups = [each["group"] for each in filter_["parameters"] + filter_["inputs"]]
        assert set(groups) <= {"main", "lens-shape", "more"} and "main" in groups, filter_["name"]
        assert all(isinstance(parameter["rank"], int) for parameter in filter_["parameters"])
    shown = [each["name"] for each in records["dof"]["parameters"] if each["group"] == "main"]
    assert shown == ["focus", "focus-at", "strength", "f-number", "bokeh"]


def test_records_say_how_a_slider_shows_a_number(satin):
    records = {filter_["name"]: filter_ for filter_ in registered(satin)}
    for filter_ in records.values():
        for parameter in filter_["parameters"]:
            number = parameter["kind"] in ("real", "integer", "length", "radius")
            assert ("usual" in parameter, "scale" in parameter) == (number, number), (filter_["name"], parameter["name"])
    blur = {each["name"]: each for each in records["blur"]["parameters"]}
    assert blur["radius"]["usual"] == [0, 100] and blur["radius"]["scale"] == "logarithmic"
    assert blur["sigma"]["instead_of"] == "radius" and not blur["sigma"]["whole"]
    window = next(each for each in records["threshold"]["parameters"] if each["name"] == "window")
    assert window["whole"] and window["odd"]
    assert [records[name]["shape"] for name in ("blur", "threshold", "resize")] == ["same", "grey", "other"]


def test_values_must_not_be_empty(satin):
    satin.bad(2, "blur", "photo.png", "-o", "x.png", "--radius", "", says="--radius needs a value")
    satin.bad(2, "run", "blur radius=", "photo.png", "-o", "x.png", lines=4, says="'radius' needs a value")


def test_help_shows_ranges_defaults_and_choices(satin):
    text = " ".join(satin.good("blur", "--help").stdout.decode().split())
    assert "0 to 16384" in text and "default 8" in text
    assert "shrink, clamp, reflect, mirror, wrap, constant" in text


def test_list(satin):
    text = satin.good("list").stdout.decode()
    names = [filter_["name"] for filter_ in registered(satin)]
    assert {"blur", "integral"} <= set(names)
    for name in names:
        assert name in text
    satin.bad(2, "list", "blur", says="blur")


def test_devices(satin):
    devices = json.loads(satin.good("devices", "--json").stdout)["devices"]
    assert devices[0]["id"] == "cpu" and devices[0]["usable"]
    text = satin.good("devices").stdout.decode()
    assert "cpu" in text
    for device in devices:
        assert device["usable"] or device["reason"] in text


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(satin, shell):
    script = satin.good("completion", shell).stdout
    for filter_ in registered(satin):
        assert filter_["name"].encode() in script
    if shutil.which(shell):
        check = subprocess.run([shell, "-n"], input=script, stderr=subprocess.PIPE)
        assert check.returncode == 0 and check.stderr == b""


def test_bash_completes(satin):
    if shutil.which("bash") is None:
        pytest.skip("there is no bash")
    (satin.folder / "satin.bash").write_bytes(satin.good("completion", "bash").stdout)

    def complete(*words):
        line = " ".join("'%s'" % word for word in words)
        script = ". ./satin.bash; COMP_WORDS=(%s); COMP_CWORD=%d; _satin; echo ${COMPREPLY[*]}" % (line, len(words) - 1)
        return subprocess.run(["bash", "-c", script], cwd=satin.folder, stdout=subprocess.PIPE).stdout.decode().split()

    assert complete("satin", "blu") == ["blur"]
    assert complete("satin", "blur", "--radius-ma") == ["--radius-max", "--radius-map"]
    assert complete("satin", "blur", "--border", "c") == ["clamp", "constant"]
    assert complete("satin", "completion", "z") == ["zsh"]
    assert complete("satin", "he") == ["help"]
    assert complete("satin", "help", "ti") == ["tilt-shift"]
    assert complete("satin", "help", "de") == ["depth", "devices"]


def test_completion_of_unknown_shell(satin):
    satin.bad(2, "completion", "bsh", says="bash")
    satin.bad(2, "completion", says="bash")


def test_manual_page(satin):
    page = satin.good("man").stdout
    assert page.startswith(b".TH SATIN 1")
    for filter_ in registered(satin):
        assert (".SS " + filter_["name"].replace("-", "\\-")).encode() in page
    for option, times in [("resume", 1), ("jpeg-quality", 1), ("radius-map", 2)]:  # shared options once; of blur and median
        assert page.count((".B --" + option + "\n").replace("-", "\\-").encode()) + page.count(
            (".B --" + option + " ").replace("-", "\\-").encode()) == times
    if shutil.which("groff"):
        check = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z"], input=page, stderr=subprocess.PIPE)
        assert check.returncode == 0 and check.stderr == b""


def test_table_of_filters_in_the_reference(satin):
    reference = (Path(__file__).resolve().parents[2] / "src" / "app" / "README.md").read_text()
    table = satin.good("list", "--markdown").stdout.decode()
    assert table in reference, "The table in src/app/README.md is old: put the output of 'satin list --markdown' there."

"""The output of help(), and its examples."""
import doctest
import importlib
import inspect
import itertools
import pkgutil
import pydoc
import re

import pytest

import satin
from conftest import ROOT
from satin import _peers

LINES, COLUMNS = 30, 100


def modules():
    """Every module of the package that can be imported here."""
    for found in pkgutil.walk_packages(satin.__path__, "satin."):
        try:
            yield importlib.import_module(found.name)
        except ImportError:
            continue


def public_functions():
    """Every function and class that callers have, by its name."""
    found = {f"satin.{name}": getattr(satin, name) for name in satin.__all__}
    found |= {f"satin.scan.{name}": getattr(satin.scan, name) for name in satin.scan.__all__}
    found |= {f"satin.rle.{name}": thing for name, thing in vars(satin.rle).items() if not name.startswith("_")}
    return {name: thing for name, thing in found.items() if inspect.isfunction(thing) or thing is satin.Plan}


PUBLIC = public_functions()


@pytest.mark.parametrize("module", list(modules()), ids=lambda module: module.__name__)
def test_examples_of_docstrings_do_what_they_say(module):
    if module.__name__.startswith("satin.ray"):
        pytest.skip("its examples need a cluster: tests/long ray")
    flags = doctest.NORMALIZE_WHITESPACE
    assert doctest.testmod(module, optionflags=flags).failed == 0


def test_examples_of_the_package_do_what_they_say():
    assert doctest.testmod(satin).attempted > 3 and doctest.testmod(satin).failed == 0


@pytest.mark.parametrize("name", PUBLIC)
def test_every_function_has_an_example(name):
    """Filters' examples run here: they are of no module's source."""
    tests = doctest.DocTestFinder(recurse=False).find(PUBLIC[name], name, module=False)
    result = doctest.DocTestRunner().run(tests[0]) if tests else None
    assert result is not None and result.attempted > 0, "there is no example"
    assert result.failed == 0


@pytest.mark.parametrize("name", satin.filters.__all__)
def test_help_is_short(name):
    lines = pydoc.render_doc(getattr(satin, name), "Help on %s:", renderer=pydoc.plaintext).rstrip().splitlines()
    assert len(lines) <= LINES and max(map(len, lines)) <= COLUMNS
    text = "\n".join(lines)
    for parameter in inspect.signature(getattr(satin, name)).parameters:
        assert re.search(rf"\b{parameter}\b", text), parameter
    assert "--" not in text and not re.search(r"\b(radius|depth|mask)-[a-z]", text), "words of the command"


def test_descriptions_are_found_by_name_and_by_function():
    assert satin.describe("edge-smooth") == satin.describe("edge_smooth") == satin.describe(satin.edge_smooth)
    with pytest.raises(ValueError, match="Did you mean 'blur'"):
        satin.describe("blurr")


def test_descriptions_have_the_usual_range_beside_the_hard_one():
    text = " ".join(satin.describe("unsharp").split())
    assert "(0 to 1000, usually 0 to 3)" in text and "(0 to 16384 px, usually 0 to 100)" in text
    assert "usually" not in satin.describe("gloss")  # there both are the same


# --- Names beside those of other libraries. ---

LIBRARIES = {"scipy.ndimage": 1, "skimage": 2, "cv2": 3}


def table_rows():
    """The rows of the README's table: the task, the cells of the three libraries, Satin's call."""
    lines = (ROOT / "src" / "python" / "README.md").read_text().splitlines()
    first = lines.index("|  | scipy.ndimage | skimage | cv2 | satin |") + 2
    rows = itertools.takewhile(lambda line: line.startswith("| "), lines[first:])
    return [[cell.strip(" `") for cell in row.strip("|").split("|")] for row in rows]


def names_of(cell):
    plain = re.sub(r"\([^)]*\)", "", cell)
    return [] if "=" in plain or ":" in plain else [each.strip() for each in plain.split(",") if each.strip()]


def test_every_name_of_the_table_leads_to_its_call():
    assert len(table_rows()) > 20
    for task, *cells, call in table_rows():
        for name in (name.rpartition(".")[2] for cell in cells for name in names_of(cell)):
            wanted = "satin.write(" if name in ("imsave", "imwrite") else call
            assert wanted in _peers.advice_for(name, []), (task, name)


@pytest.mark.parametrize("library", LIBRARIES)
def test_names_of_other_libraries_are_theirs(library):
    pytest.importorskip(library, reason=f"{library} is not installed")
    for row in table_rows():
        for name in names_of(row[LIBRARIES[library]]):
            place, _, attribute = f"{library}.{name}".rpartition(".")
            if place == "cv2.ximgproc" and not hasattr(importlib.import_module("cv2"), "ximgproc"):
                continue  # functions of OpenCV's contrib modules
            assert hasattr(importlib.import_module(place), attribute), name


@pytest.mark.parametrize("library", LIBRARIES)
def test_defaults_of_other_libraries_are_theirs(library):
    pytest.importorskip(library, reason=f"{library} is not installed")
    compared = 0
    for row in table_rows():
        for name, given in re.findall(r"([\w.]+)\(([^)]*)\)", row[LIBRARIES[library]]):
            place, _, attribute = f"{library}.{name}".rpartition(".")
            try:
                parameters = inspect.signature(getattr(importlib.import_module(place), attribute)).parameters
            except (AttributeError, ImportError, ValueError):
                continue  # OpenCV's functions tell no signature
            for key, value in re.findall(r"(\w+)=([\w.]+)", given):
                assert str(parameters[key].default) in (value, f"{value}.0"), (name, key)
                compared += 1
    assert compared > 2 or library == "cv2"


def test_defaults_of_satin_are_those_of_the_table():
    calls = " ".join(row[4] for row in table_rows())
    for name, given in re.findall(r"satin\.(\w+)\(([^)]*)\)", calls):
        parameters = inspect.signature(getattr(satin, name)).parameters
        for key, value in re.findall(r"(\w+)=([\w.']+)", given):
            assert key in parameters, (name, key)
            if (name, key) in {("threshold", "window"), ("edge_smooth", "sigma_s"),
                               ("edge_smooth", "sigma_r"), ("find_regions", "connectivity"), ("blur", "border")}:  # fmt: skip
                assert repr(parameters[key].default) == value, (name, key)


@pytest.mark.parametrize("name,call", [("gaussian", "satin.blur(a, sigma=S)"), ("median_blur", "satin.median(a, R)"),
                                       ("uniform_filter", "satin.blur(a, R)"), ("medianBlur", "satin.median(a, R)"),
                                       ("regionprops", "satin.find_regions"), ("imread", "satin.read"),
                                       ("sharpen", "satin.unsharp"), ("zoom", "satin.resize(a, N)"), ("rotate", "skimage.transform")])  # fmt: skip
def test_names_of_other_libraries_lead_to_satins(name, call):
    with pytest.raises(AttributeError, match=re.escape(call)):
        getattr(satin, name)
    assert not hasattr(satin, name)


def test_mistyped_names_get_the_nearest():
    with pytest.raises(AttributeError, match="Did you mean 'find_regions'"):
        satin.find_region
    with pytest.raises(ImportError):
        from satin import nothing_of_this_name  # noqa: F401

"""Stubs say what the package has."""
import ast
import inspect
import subprocess
import sys
from pathlib import Path

import satin


def test_the_stub_of_the_filters_has_what_the_package_has():
    written = ast.parse((Path(satin.__file__).parent / "filters.pyi").read_text())
    functions = {node.name: node for node in written.body if isinstance(node, ast.FunctionDef)}
    assert list(functions) == satin.filters.__all__
    for name, function in functions.items():
        (picture, *options), arguments = inspect.signature(getattr(satin, name)).parameters.values(), function.args
        assert [each.arg for each in arguments.args] == [picture.name]
        assert [each.arg for each in arguments.kwonlyargs] == [each.name for each in options]
        for option, default in zip(options, arguments.kw_defaults):
            missing = inspect.Parameter.empty if default is None else ast.literal_eval(default)
            assert missing == option.default, (name, option.name)


def test_what_callers_write_is_understood(tmp_path):
    (tmp_path / "right.py").write_text(
        "import numpy as np\nimport satin\n"
        "image = np.zeros((4, 4, 3), np.uint8)\n"
        "satin.blur(image, radius=(3, '5%'), border='wrap', mask=image[..., 0])\n"
        "labels = satin.find_regions(image[..., 0], min_area=4).regions[0].bbox[2] + 1\n"
        "satin.scan.inclusive_scan(image.reshape(-1), 'max', initial=3)\n"
    )
    (tmp_path / "wrong.py").write_text(
        "import numpy as np\nimport satin\n"
        "image = np.zeros((4, 4, 3), np.uint8)\n"
        "satin.blur(image, radus=3)\n"
        "satin.blur(image, border='wrapp')\n"
        "satin.threshold(image, window='x')\n"
    )
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", tmp_path / "cache", "right.py", "wrong.py"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    errors = [line for line in checked.stdout.splitlines() if ": error:" in line]
    assert [line.split(":")[0] for line in errors] == ["wrong.py"] * 3, checked.stdout

"""Stubs say what the package has."""
import subprocess
import sys

from conftest import ROOT


def test_the_stub_of_the_filters_is_fresh():
    made = subprocess.run([sys.executable, ROOT / "tests" / "python" / "make_stub"], capture_output=True, text=True, check=True)
    committed = (ROOT / "src" / "python" / "satin" / "filters.pyi").read_text()
    assert made.stdout == committed, "run tests/python/make_stub > src/python/satin/filters.pyi"


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

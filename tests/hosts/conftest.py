import importlib.util
import sys
from pathlib import Path

CLI = Path(__file__).resolve().parent.parent / "cli"
sys.path.insert(0, str(CLI))  # png_file and the other readers and writers of files

_spec = importlib.util.spec_from_file_location("cli_conftest", CLI / "conftest.py")
_cli = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_cli)

satin, noise, picture, pytest_configure = _cli.satin, _cli.noise, _cli.picture, _cli.pytest_configure

MODULES = Path(_cli.BINARY).parent / "hosts"  # a folder of plug-ins for each host

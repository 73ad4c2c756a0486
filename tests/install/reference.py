"""Doxygen finds nothing to say about the public headers: every public name is documented."""
import pathlib
import shutil
import subprocess
import sys

doxygen, doxyfile, folder = sys.argv[1:]
shutil.rmtree(folder, ignore_errors=True)
pathlib.Path(folder).mkdir(parents=True)
subprocess.run([doxygen, doxyfile], check=True)
pages = list(pathlib.Path(folder, "xml").glob("*.xml"))
assert len(pages) > 50, f"{len(pages)} pages: doxygen did not find the headers"
text = pathlib.Path(folder, "xml", "classsatin_1_1Device.xml").read_text()
assert "An open device." in text and "allocate" in text
warnings = pathlib.Path(folder, "warnings.txt").read_text()
print(warnings)
sys.exit(1 if warnings else 0)

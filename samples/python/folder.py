"""A folder of pictures, filtered, with a bar.

    python folder.py FOLDER

FOLDER holds pictures. What is made of them goes to FOLDER/made/soft.
"""
# %% Every picture is read, filtered and written with its metadata. One that fails is a row, not an exception.
import sys
from pathlib import Path

from tqdm import tqdm

import satin

folder = Path(sys.argv[1])
out = folder / "made" / "soft"
out.mkdir(parents=True, exist_ok=True)

# %% progress=True shows a bar by itself. With a bar of one's own, `finished` gets a row after each file.
with tqdm(unit="file") as bar:

    def finished(row: dict) -> None:
        bar.update()
        bar.set_postfix_str(Path(row["input"]).name)

    result = satin.batch("blur radius=1% | unsharp amount=0.5", folder / "*.png", out, resume=True, progress=False,
                         finished=finished)  # fmt: skip

# %% What was done. The same line again does only what is missing or has changed.
print(f"{result.done} of {result.total} done in {result.seconds:.1f} s, {result.skipped} were done before")
for row in result.failures:
    print(f"{row['input']}: {row['error']['message']}", file=sys.stderr)
sys.exit(result.exit_code)

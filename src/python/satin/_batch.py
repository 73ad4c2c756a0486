"""Batches: processes many files as the command does."""

from __future__ import annotations

import json
import numbers
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Optional, Sequence, Union

from satin import _native
from satin._arrays import DeviceLike
from satin._errors import InvalidArgumentError
from satin._files import _MAX_BYTES, _MAX_PIXELS, _MAX_STREAMED_PIXELS, named_by_python, need_files
from satin._models import name_runtime
from satin._pipeline import pipeline_words
from satin._translation import worded

PathLike = Union[str, "os.PathLike[str]"]
Row = dict[str, Any]


@dataclass
class BatchResult:
    """Counts of a batch, and what failed."""

    total: int  #: number of files in the batch
    done: int  #: files written
    failed: int  #: files not written because of an error
    skipped: int  #: files skipped
    not_started: int  #: files never started because the batch ended early
    seconds: float  #: duration of the run
    exit_code: int  #: exit code of the command: 0 success, 1 a file failed, 3 an error of the environment
    unread: list[Path]  #: files in folders that Satin does not read
    failures: list[Row] = field(default_factory=list)  #: rows of files that failed


def batch_options(
    output: PathLike,
    *,
    format: str = "",
    overwrite: bool = False,
    resume: bool = False,
    memory: int = 0,
    threads: int = 0,
    quality: Optional[int] = None,
    dither: bool = False,
    strip: bool = False,
    mask_from: str = "file",
    invert_mask: bool = False,
    gain_map: Optional[str] = None,
    keep_depth: bool = False,
    depth_out: PathLike = "",
    model: PathLike = "",
    keep_metadata: bool = False,
    page: Optional[int] = None,
    part: str = "",
    all_pages: bool = False,
    allow_partial: bool = False,
    max_pixels: Optional[int] = None,
    max_bytes: int = _MAX_BYTES,
    stream: bool = False,
    pyramid: bool = False,
) -> Any:
    """Returns the options that a batch shares with its actors on other machines."""
    for name, value in {"memory": memory, "threads": threads, "quality": quality, "page": page}.items():
        if value is not None and not isinstance(value, numbers.Integral):
            raise TypeError(f"{name}={value!r}: a whole number is expected.")
    native = need_files()
    options = native.BatchOptions()
    options.output = output
    options.format = format if not format or format.startswith(".") else "." + format
    options.overwrite, options.resume = overwrite, resume
    options.memory, options.threads = memory, threads
    options.quality, options.dither, options.strip = quality, dither, strip
    options.keep_depth, options.depth_out, options.keep_metadata = keep_depth, depth_out, keep_metadata
    options.model = model
    if os.fspath(model) or os.environ.get("SATIN_DEPTH_MODEL"):
        name_runtime()
    options.set_mask_from(mask_from)
    options.invert_mask = invert_mask
    if gain_map is not None:
        options.set_gain_map(gain_map)
    options.stream, options.pyramid = stream, pyramid
    most = max_pixels if max_pixels is not None else _MAX_STREAMED_PIXELS if stream else _MAX_PIXELS
    options.read = native.ReadOptions(page, part, all_pages, allow_partial, most, max_bytes)
    return options


def inputs_of(inputs: Union[PathLike, Sequence[PathLike]]) -> list[PathLike]:
    return [inputs] if isinstance(inputs, (str, os.PathLike)) else list(inputs)


def _devices(device: Union[DeviceLike, Sequence[DeviceLike]], threads: int, memory_limit: int) -> list[_native.Device]:
    """Opens devices for this batch, so that its memory limit affects no other work. Devices that are open already are
    not changed."""
    wanted: list[Any] = list(device) if isinstance(device, (list, tuple)) else [device]
    devices = [each if isinstance(each, _native.Device) else _native.Device(each or "auto", threads) for each in wanted]
    for opened, told in zip(devices, wanted):
        if opened is not told:
            opened.limit_memory(memory_limit)
    return devices


class Progress:
    """Shows a bar of tqdm on standard error if that is a terminal and tqdm is installed."""

    def __init__(self, total: int, wanted: Optional[bool]) -> None:
        self._bar: Any = None
        if wanted is False:
            return
        try:
            from tqdm.auto import tqdm  # type: ignore[import-untyped, unused-ignore]
        except ImportError:
            if wanted:
                raise ImportError("progress=True needs tqdm: pip install tqdm") from None
            return
        self._bar = tqdm(total=total, unit="file", disable=None if wanted is None else False)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: Any) -> None:
        if self._bar is not None:
            self._bar.close()

    def add(self, failed: int) -> None:
        if self._bar is None:
            return
        self._bar.update()
        if failed:
            self._bar.set_postfix(failed=failed, refresh=False)


@worded(batch_options)
def batch(
    pipeline: str,
    inputs: Union[PathLike, Sequence[PathLike]],
    output: PathLike = "",
    *,
    in_place: bool = False,
    backup: Optional[str] = None,
    recursive: bool = False,
    skip_existing: bool = False,
    fail_fast: bool = False,
    shard: str = "1/1",
    report: PathLike = "",
    gallery: PathLike = "",
    device: Union[DeviceLike, Sequence[DeviceLike]] = None,
    threads: int = 0,
    memory_limit: int = 0,
    progress: Optional[bool] = None,
    finished: Optional[Callable[[Row], None]] = None,
    **options: Any,
) -> BatchResult:
    """Filters files as ``satin run`` does: every picture is read, filtered and written with its metadata, even if
    others fail.

    `pipeline` is the text of ``satin run``, such as ``"blur radius=8 mask={dir}/{stem}_mask.png"``; side inputs are names
    of files or patterns. `inputs` are files, folders and patterns with wildcards. `output` is a file, a folder, or a
    pattern such as ``"{dir}/{stem}_soft.{ext}"``. Everything that can be checked without decoding is checked before the
    first file is touched.

    in_place : replaces the inputs, without `output`: every file once and atomically, with a manifest in its folder
    backup : suffix under which `in_place` keeps the originals, such as ".orig"
    shard : "2/8" processes the second of eight shares; "auto" the share that SLURM, Kubernetes or GNU parallel assigns
    report, gallery : files that list every result, as lines of JSON and as an HTML page
    device : as for the filters; several share the files
    threads : number of CPU threads; 0: all that the process may use
    memory_limit : bytes that plans may hold on each device; 0: all free memory
    progress : shows a bar by tqdm; by default if tqdm is installed and standard error is a terminal
    finished : called with the row of each file, in their order; an exception ends the batch

    The other options are the command's, with its defaults: format, overwrite, resume, memory (bytes for the pictures in
    flight), quality, dither, strip, mask_from, invert_mask, gain_map ("use" filters the restored light, "keep" carries the
    map, "drop" leaves it out; by default as the filters need), keep_depth, depth_out, model (an ONNX file, for
    depth-from=model), keep_metadata, page, part, all_pages, allow_partial, max_pixels, max_bytes; stream (a picture stays in
    its file and is filtered by bands of rows: TIFF, NPY, PFM or PNM to tiled TIFF), pyramid (TIFF with pictures of half the
    size behind the picture).

    A row is the dictionary that the command writes as JSON: input, output, status ('done', 'failed', 'exists',
    'unchanged'), seconds, the picture's shape, warnings, and an error of kind and message. A file that fails is a row, not
    an exception. Raises ValueError for names and options to be corrected, OSError for an input folder or a side input that
    cannot be read, RuntimeError for a device or memory that is missing; nothing has been written then.

    >>> import numpy, satin, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     satin.write(f"{folder}/grey.png", numpy.zeros((20, 30), numpy.uint8))
    ...     result = satin.batch("blur radius=2", f"{folder}/grey.png", f"{folder}/soft.png", progress=False)
    >>> result.done, result.failed, result.exit_code
    (1, 0, 0)
    """
    native = need_files()
    if in_place and os.fspath(output):
        raise InvalidArgumentError("in_place=True replaces the inputs: leave output out.")
    if not in_place and not os.fspath(output):
        raise InvalidArgumentError("There is no output: name a file or a folder, or pass in_place=True.")
    settings = batch_options(output, threads=threads, **options)
    settings.inputs = inputs_of(inputs)
    settings.in_place, settings.backup = in_place, backup
    settings.recursive, settings.skip_existing, settings.fail_fast = recursive, skip_existing, fail_fast
    settings.report, settings.gallery = report, gallery
    settings.set_shard(shard)
    with pipeline_words():
        text = native.Pipeline(pipeline)
    absent = next((each for each in settings.inputs if not os.path.lexists(each)), None)
    with named_by_python(output if absent is None else absent):
        prepared = native.Batch(text, settings)
    failures: list[Row] = []
    with Progress(len(prepared), progress) as bar:

        def tell(text: str, path: Path) -> None:
            row = row_of(text, path)
            if row["status"] == "failed":
                failures.append(row)
            bar.add(len(failures))
            if finished is not None:
                finished(row)

        result = BatchResult(*prepared.run(_devices(device, threads, memory_limit), tell))
    result.failures = failures
    return result


def row_of(text: str, path: Path) -> Row:
    """The row of a file; its name as Python has it, even where that is no UTF-8."""
    row: Row = json.loads(text)
    row["input"] = os.fspath(path)
    return row

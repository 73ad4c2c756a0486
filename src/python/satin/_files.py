"""Pictures in files: read, changed and written with what they carry beside the pixels."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any, BinaryIO, Iterator, Optional, Sequence, Union, overload

from satin import _native
from satin._arrays import as_read, picture
from satin._errors import DeviceError, ExistingFileError, FileError, InvalidArgumentError, MissingFileError
from satin._translation import worded

if TYPE_CHECKING:
    from numpy.typing import NDArray

Source = Union[str, bytes, bytearray, memoryview, BinaryIO, "os.PathLike[str]"]

_MAX_PIXELS = 1 << 30
_MAX_STREAMED_PIXELS = 1 << 44  # memory grows only with the width
_MAX_BYTES = 1 << 34


_REMEDY = (
    "Debian and Ubuntu have all that formats need: apt-get install libexpat1-dev libstb-dev libpng-dev libjpeg-dev libtiff-dev "
    "libopenexr-dev libheif-dev liblcms2-dev libopencv-imgcodecs-dev; then, in Satin's checkout: pip install --force-reinstall ."
)


def need_files() -> Any:
    """Returns the native module, if it was built with files."""
    if not hasattr(_native, "read_file"):
        raise DeviceError(f"This satin was built without files. Build it anew without SATIN_CODECS=NONE. {_REMEDY}")
    return _native


@contextlib.contextmanager
def _remedied(refused_floats: bool = False) -> Iterator[None]:
    """Adds the remedy to an error about a format that this build lacks, or that does not hold floats."""
    try:
        yield
    except (ValueError, RuntimeError, OSError) as error:
        if error.args and "This build of Satin has no" in str(error.args[0]):
            error.args = (f"{error.args[0]}\n{_REMEDY}",)
        elif refused_floats and " holds u" in str(error):
            error.args = (f"{error.args[0]} Or give convert=True, which encodes linear light from 0 to 1.",)
        raise


def _has_floats(image: Any) -> bool:
    return "float" in str(getattr(image, "dtype", ""))


def formats() -> list[dict[str, Any]]:
    """Lists the file formats as dictionaries: name, extensions, reads and writes (whether this build does), pages
    (whether a file may hold several pictures), and the types and channels that a file can hold. Formats that a build
    lacks are refused with a message that names the missing library.

    >>> import satin
    >>> [each["reads"] for each in satin.formats() if each["name"] == "PNG"]
    [True]
    """
    found: list[dict[str, Any]] = need_files().formats()
    return found


@contextlib.contextmanager
def named_by_python(path: Any) -> Iterator[None]:
    """Raises errors about a path that does not exist, or that exists already, as Python's own functions do."""
    try:
        yield
    except ExistingFileError:
        raise
    except InvalidArgumentError as error:
        if not os.path.lexists(path) or " exists" not in str(error):
            raise
        raise ExistingFileError(*error.args) from None
    except FileError as error:
        if os.path.lexists(path):
            raise
        raise MissingFileError(*error.args) from None


def _bytes_of(source: Any) -> Optional[bytes]:
    """Returns the bytes of a file that is not given by its path."""
    if hasattr(source, "read"):
        source = source.read()
        if not isinstance(source, bytes):
            raise TypeError("A file object must be opened in binary mode: open(path, 'rb').")
    return bytes(source) if isinstance(source, (bytes, bytearray, memoryview)) else None


@overload
def read(
    source: Source,
    *,
    page: Optional[int] = ...,
    part: str = ...,
    allow_partial: bool = ...,
    max_pixels: int = ...,
    max_bytes: int = ...,
    gain_map: str = ...,
) -> NDArray[Any]: ...


@overload
def read(
    source: Source,
    *,
    metadata: bool = ...,
    page: Optional[int] = ...,
    part: str = ...,
    all_pages: bool = ...,
    allow_partial: bool = ...,
    max_pixels: int = ...,
    max_bytes: int = ...,
    gain_map: str = ...,
) -> Any: ...


@worded()
def read(
    source: Source,
    *,
    metadata: bool = False,
    page: Optional[int] = None,
    part: str = "",
    all_pages: bool = False,
    allow_partial: bool = False,
    max_pixels: int = _MAX_PIXELS,
    max_bytes: int = _MAX_BYTES,
    gain_map: str = "drop",
) -> Any:
    """Reads the picture in a file, upright, as an array (height, width) or (height, width, channels) of uint8, uint16,
    float32, or the type of a table. Colours are in the order red, green, blue; alpha is last.

    `source` is a path, the bytes of a file, or a file object in binary mode, from where it stands. With `metadata` the result is the array and a :class:`Metadata` that
    :func:`write` puts into another file. If a file holds several pictures, `page` (from 1) or `part` (of OpenEXR, by
    name or number) selects one; `all_pages` returns a list of all. `allow_partial` reads the intact part of a damaged
    file. Files and pictures above the limits are refused before anything is allocated. With ``gain_map="use"`` the
    result is linear light as float32, where white is 1: beyond it where the file has a gain map.

    Raises FileNotFoundError for a missing file, OSError with the file, the reason and the remedy if it cannot be read,
    ValueError for a page that does not exist, RuntimeError for a missing library; all are :class:`satin.Error`.

    >>> import numpy, satin
    >>> file = satin.encode(numpy.full((2, 3), 7, numpy.uint8), ".png")
    >>> satin.read(file)
    array([[7, 7, 7],
           [7, 7, 7]], dtype=uint8)
    >>> pixels, metadata = satin.read(file, metadata=True)
    >>> metadata.format
    '.png'
    """
    native = need_files()
    if gain_map not in ("use", "drop"):
        raise InvalidArgumentError(f"gain_map is 'use' or 'drop', not {gain_map!r}.")
    options = native.ReadOptions(page, part, all_pages, allow_partial, max_pixels, max_bytes, gain_map == "use")
    data = _bytes_of(source)
    if data is not None and all_pages:
        raise InvalidArgumentError("all_pages takes a path, not bytes: write them to a file first.")
    with _remedied():
        if data is not None:
            found = [native.decode(data, "picture", options)]
        else:
            path: Any = source
            with named_by_python(path):
                found = native.read_file(path, options)
    results = found if metadata else [image for image, _ in found]
    return results if all_pages else results[0]


def _alpha(image: Any, carried: Optional[_native.Metadata], told: Optional[str]) -> str:
    """Returns the meaning of the last of 2 or 4 channels: as given, as it was read, or else straight alpha."""
    if told is not None:
        return told
    shape: tuple[int, ...] = getattr(image, "shape", ())
    if len(shape) != 3 or shape[2] % 2 != 0:
        return "none"
    return carried.alpha if carried is not None and carried.alpha != "none" else "straight"


def _page(image: Any, extension: str, carried: Optional[_native.Metadata], alpha: Optional[str]) -> Any:
    """Returns the picture with its metadata. float64 is kept if the format holds it."""
    wide = any(extension in each["extensions"] and "f64" in each["types"] for each in formats())
    held = image if wide and str(getattr(image, "dtype", "")) == "float64" else as_read(image)
    return picture(held, "image", None, _alpha(image, carried, alpha)), carried


@worded()
def write(
    path: Union[str, "os.PathLike[str]"],
    image: Any,
    *,
    metadata: Union[None, _native.Metadata, Sequence[Optional[_native.Metadata]]] = None,
    overwrite: bool = False,
    quality: Optional[int] = None,
    convert: bool = False,
    dither: bool = False,
    alpha: Optional[str] = None,
    format: str = "",
    gain_map: bool = False,
) -> None:
    """Writes an array (height, width) or (height, width, channels) in host memory to a file, atomically.

    The extension of the path chooses the format, or `format` (".png"). A list of arrays becomes the pages of a TIFF
    file or the parts of an OpenEXR file, each with its own element of `metadata`. `quality` (1 to 100) applies to JPEG
    and WebP; by default a JPEG is quantised as the file that `metadata` was read from, or else with 95. `convert`
    writes types that the format does not hold as the nearest type that it does, with floats as linear light of 0 to 1;
    `dither` then dithers 8 bits. `alpha` is the meaning of the last of 2 or 4 channels: 'none', 'straight' or
    'premultiplied'; by default as it was read, or else 'straight'. With `gain_map` the image is linear light as
    float32, where white is 1; a JPEG then holds it clipped to 8 bits, with a gain map that restores it (Ultra HDR).

    Raises FileExistsError for an existing file without `overwrite`, ValueError for pictures that the format does not
    hold, OSError if the file cannot be written, RuntimeError for a full disk; all are :class:`satin.Error`.

    >>> import numpy, satin, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     satin.write(f"{folder}/grey.png", numpy.full((2, 3), 7, numpy.uint8))
    ...     satin.read(f"{folder}/grey.png").shape
    (2, 3)
    """
    native = need_files()
    several = isinstance(image, (list, tuple))
    images = list(image) if several else [image]
    each_has: Any = metadata
    carried = list(each_has) if isinstance(each_has, (list, tuple)) else [each_has] * len(images)
    if len(carried) != len(images):
        raise InvalidArgumentError(f"There are {len(images)} images, but {len(carried)} metadata.")
    extension = format or os.path.splitext(os.fspath(path))[1].lower()
    pages = [_page(each, extension, beside, alpha) for each, beside in zip(images, carried)]
    with _remedied(not convert and any(map(_has_floats, images))), named_by_python(path):
        native.write_file(path, pages, overwrite, quality, convert, dither, format, gain_map)


@worded()
def encode(
    image: Any,
    format: str,
    *,
    metadata: Optional[_native.Metadata] = None,
    quality: Optional[int] = None,
    convert: bool = False,
    dither: bool = False,
    alpha: Optional[str] = None,
) -> bytes:
    """Returns the bytes of the file that :func:`write` would make; `format` is its extension, such as ".png".

    >>> import numpy, satin
    >>> satin.encode(numpy.zeros((2, 3), numpy.uint8), ".png")[1:4]
    b'PNG'
    """
    native = need_files()
    view, carried = _page(image, format, metadata, alpha)
    with _remedied(not convert and _has_floats(image)):
        data: bytes = native.encode(view, carried, format, quality, convert, dither)
    return data

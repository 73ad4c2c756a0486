"""Image filters on summed-area tables, on the GPU and the CPU.

Every filter is a function that takes an array and returns one of the same kind:

    >>> import numpy, satin
    >>> image = numpy.zeros((480, 640, 3), numpy.uint8)
    >>> soft = satin.blur(image, 12.5)
    >>> crisp = satin.run("blur radius=2 | unsharp amount=0.5", image)
    >>> satin.gaussian                                  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    AttributeError: satin has no 'gaussian': satin.blur(a, sigma=S) does that. ...

Arrays are NumPy's, PyTorch's, CuPy's, JAX's, or of whoever has DLPack, `__cuda_array_interface__` or the buffer
protocol. They are not copied on the way in, whatever their strides, and results are written into memory that
their own library allocated. What lies in GPU memory is filtered there, on the library's current stream.

Pictures are (height, width), (height, width, channels) or (frames, height, width, channels), of uint8, uint16 or
float32; `layout="CHW"` and the like say otherwise. float64 is converted to float32, booleans to 0 and 255. What an
argument cannot be is a ValueError with the reason and the remedy; a device that is missing, or memory, is a
RuntimeError or MemoryError.

Files: `read` and `write` keep what a file carries beside the pixels, `batch` does folders as the command does.
`satin.ray` spreads a batch over the machines of a Ray cluster (`pip install 'satin-image[ray]'`), `satin.dask` filters
chunked arrays ('satin-image[dask]'); neither is imported before it is asked for.

Beside the filters: `run` and `Plan` for pipelines, `find_regions`, `statistics`, `tone_zones`, `luminance`,
`satin.rle` for COCO's run lengths and `satin.scan` for prefix sums and what is built on them.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from satin import filters, rle, scan
from satin._batch import BatchResult, batch
from satin._files import encode, formats, read, write
from satin._measurements import (
    ChannelStatistics,
    Region,
    Regions,
    RegionValues,
    ToneZones,
    find_regions,
    luminance,
    statistics,
    tone_zones,
)
from satin._native import Device, devices
from satin._native import version as _version
from satin._pipeline import Plan, run
from satin.filters import describe
from satin.filters import *  # noqa: F403: one for each record of the registry

__version__: str = _version

__all__ = [
    "BatchResult",
    "ChannelStatistics",
    "Device",
    "Plan",
    "Region",
    "RegionValues",
    "Regions",
    "ToneZones",
    "batch",
    "describe",
    "devices",
    "encode",
    "filters",
    "find_regions",
    "formats",
    "luminance",
    "read",
    "rle",
    "run",
    "scan",
    "statistics",
    "tone_zones",
    "write",
]
__all__ += filters.__all__

if not _TYPE_CHECKING:  # to type checkers a name that is not there is an error

    def __getattr__(name: str) -> None:
        """Raises AttributeError that names Satin's function for another library's."""
        from satin._peers import advice_for

        raise AttributeError(advice_for(name, __all__))

"""Image filters on summed-area tables, on the GPU and the CPU.

Every filter is a function that takes an array and returns one of the same kind:

    >>> import numpy, satin
    >>> image = numpy.zeros((480, 640, 3), numpy.uint8)
    >>> soft = satin.blur(image, 12.5)
    >>> crisp = satin.run("blur radius=2 | unsharp amount=0.5", image)
    >>> satin.gaussian                                  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    AttributeError: satin has no 'gaussian': satin.blur(a, sigma=S) does that. ...

Arrays may come from NumPy, PyTorch, CuPy, JAX, or any library with DLPack, `__cuda_array_interface__` or the buffer
protocol. Inputs are not copied, whatever their strides, and results are written into memory that their own library
allocated. Arrays in GPU memory are filtered there, on the library's current stream.

Pictures are (height, width), (height, width, channels) or (frames, height, width, channels), of uint8, uint16 or
float32; `layout="CHW"` and the like name another order of axes. float64 is converted to float32, booleans to 0 and 255.
Invalid arguments raise ValueError with the reason and the remedy; a missing device or lack of memory raises
RuntimeError or MemoryError; files raise OSError, FileNotFoundError and FileExistsError. All but MemoryError and TypeError
are `satin.Error` as well.

For files, `read` and `write` keep the metadata, and `batch` processes folders as the command does. `satin.ray` spreads
a batch over the machines of a Ray cluster (`pip install 'satin-image[ray]'`), `satin.dask` filters chunked arrays
('satin-image[dask]'); neither is imported before it is used.

Other functions: `run` and `Plan` for pipelines, `depth` for depth by a model of your own, `find_regions`, `statistics`, `tone_zones`, `luminance`, `satin.rle`
for COCO's run lengths, and `satin.scan` for prefix sums and functions built on them.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from satin import filters, rle, scan
from satin._batch import BatchResult, batch
from satin._errors import Error
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
from satin._models import depth
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
    "Error",
    "Plan",
    "Region",
    "RegionValues",
    "Regions",
    "ToneZones",
    "batch",
    "depth",
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

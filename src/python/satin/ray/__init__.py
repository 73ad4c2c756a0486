"""Batches on the machines of a Ray cluster: Ray distributes the names, Satin reads and writes the pixels.

    >>> import satin.ray
    >>> result = satin.ray.run("blur radius=8", "photos/", "soft/", recursive=True)
    >>> raise SystemExit(result.exit_code)

:func:`run` does everything. Its parts can be used in other pipelines:

    >>> names = satin.ray.find("photos/", recursive=True)
    >>> rows = names.map_batches(satin.ray.Filter, fn_constructor_args=("blur radius=8", "soft/"),
    ...                          batch_size=64, num_gpus=1, concurrency=4)

An actor is one process with one device. It reads ahead, filters and writes as the command's batch does: atomically,
with metadata, and with a row for every input, also for failures. Satin's manifest beside the outputs (one file per
actor) records finished files, not Ray: run the same line again after any crash, and complete outputs are kept. Inputs
and outputs must have the same names on every machine; names with a scheme ("s3://...") are read and written by
pyarrow.fs.

:class:`Bytes` filters files that are values of a column, such as those of Parquet; :class:`Arrays` filters arrays.

Needs ``pip install 'satin-image[ray]'``.
"""

try:
    import ray.data as _needed  # noqa: F401
except ImportError as error:
    raise ImportError("satin.ray needs Ray: pip install 'satin-image[ray]'") from error

from satin.ray._columns import Arrays, Bytes
from satin.ray._filter import Filter
from satin.ray._run import Result, find, run

__all__ = ["Arrays", "Bytes", "Filter", "Result", "find", "run"]

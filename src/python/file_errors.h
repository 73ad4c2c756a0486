#pragma once
// Errors about files as Python has them.

#include <nanobind/nanobind.h>

#include "satin/error.h"

namespace satin::python {

/// Does the work; Error(input), which is about a file, becomes OSError. Others are as everywhere.
template <class Work>
auto with_file_errors(const Work& work) try {
  return work();
} catch (const Error& error) {
  if (error.kind() != ErrorKind::input) throw;
  PyErr_SetString(PyExc_OSError, error.what());
  throw nanobind::python_error();
}

}  // namespace satin::python

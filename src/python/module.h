#pragma once
// The parts of the native module.

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <vector>

#include "satin/device.h"
#include "satin/error.h"
#include "satin/image.h"
#include "satin/param.h"

namespace satin::python {

void bind_batch(nanobind::module_& module);  ///< with codecs alone, as bind_files()
void bind_files(nanobind::module_& module);
void bind_filters(nanobind::module_& module);
void bind_regions(nanobind::module_& module);
void bind_run_lengths(nanobind::module_& module);
void bind_scan(nanobind::module_& module);
void bind_statistics(nanobind::module_& module);

/// "uint8", "float32"
[[nodiscard]] const char* numpy_name(Type type) noexcept;

/// A CUDA stream by its number; 0 is the device's own.
[[nodiscard]] inline Stream stream_of(std::uintptr_t number) noexcept {
  return {reinterpret_cast<void*>(number)};  // NOLINT(performance-no-int-to-ptr): that is what Python has
}

/// The array of a picture that owns its memory: NumPy's in host memory, otherwise one that has DLPack.
/// Shape (height, width) or (height, width, channels).
[[nodiscard]] nanobind::object array_of(Image&& image, int ordinal);

/// Does the work without Python's lock.
template <class Work>
auto released(const Work& work) {
  const nanobind::gil_scoped_release lock;
  return work();
}

/// Does the work; Error(input), which is about a file, becomes OSError. Others are as everywhere.
template <class Work>
auto with_file_errors(const Work& work) try {
  return work();
} catch (const Error& error) {
  if (error.kind() != ErrorKind::input) throw;
  PyErr_SetString(PyExc_OSError, error.what());
  throw nanobind::python_error();
}

/// Throws ValueError with the choices, which are in the order of the enumerators.
template <class Enumeration>
[[nodiscard]] Enumeration choice(const char* name, const std::string& text,
                                 const std::vector<std::string>& choices) {
  return static_cast<Enumeration>(parse_choice(name, text, choices));
}

}  // namespace satin::python

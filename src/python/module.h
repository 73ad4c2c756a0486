#pragma once
// Declarations that the files of the native module share.

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <vector>

#include "satin/device.h"
#include "satin/error.h"
#include "satin/image.h"
#include "satin/param.h"

namespace satin::python {

void bind_batch(nanobind::module_& module);  ///< only with codecs, as bind_files()
void bind_files(nanobind::module_& module);
void bind_filters(nanobind::module_& module);
void bind_regions(nanobind::module_& module);
void bind_run_lengths(nanobind::module_& module);
void bind_scan(nanobind::module_& module);
void bind_statistics(nanobind::module_& module);

/// Returns NumPy's name of a type, such as "uint8" or "float32".
[[nodiscard]] const char* numpy_name(Type type) noexcept;

/// Returns a CUDA stream by its number; 0 is the device's own.
[[nodiscard]] inline Stream stream_of(std::uintptr_t number) noexcept {
  return {reinterpret_cast<void*>(number)};  // NOLINT(performance-no-int-to-ptr): that is what Python has
}

/// Moves a picture into an array: NumPy's for host memory, otherwise one with DLPack. Its shape is (height,
/// width) or (height, width, channels).
[[nodiscard]] nanobind::object array_of(Image&& image, int ordinal);

/// Runs `work` without Python's lock.
template <class Work>
auto released(const Work& work) {
  const nanobind::gil_scoped_release lock;
  return work();
}

/// Sets Python's current exception to that class of satin/_errors.py.
void set_error(const char* name, const Error& error);

/// Runs `work` and converts Error(input), which is about a file, to FileError.
template <class Work>
auto with_file_errors(const Work& work) try {
  return work();
} catch (const Error& error) {
  if (error.kind() != ErrorKind::input) throw;
  set_error("FileError", error);
  throw nanobind::python_error();
}

/// Parses the name of an enumerator. `choices` are in the order of the enumerators. Throws ValueError with
/// the choices.
template <class Enumeration>
[[nodiscard]] Enumeration choice(const char* name, const std::string& text,
                                 const std::vector<std::string>& choices) {
  return static_cast<Enumeration>(parse_choice(name, text, choices));
}

}  // namespace satin::python

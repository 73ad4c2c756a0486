#pragma once
// Arrays that Python owns: the buffer protocol, DLPack, and __cuda_array_interface__; which axis of a picture
// is what.

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "satin/device.h"
#include "satin/image.h"

namespace satin::python {

/// The memory of an array, which is kept alive. Needs Python's lock to be made, copied and destroyed.
struct ForeignArray {
  std::byte* data = nullptr;
  std::vector<std::int64_t> sizes;
  std::vector<std::ptrdiff_t> strides;  ///< in bytes, of any sign
  Type type = Type::u8;
  bool boolean = false;  ///< u8 that are 0 or 1
  bool read_only = false;
  Memory memory = Memory::host;
  int ordinal = 0;  ///< of the CUDA device, in device memory
  nanobind::object keeper;
};

/// Looks at `object`, called `name` in messages, without copying. `stream` is the CUDA stream on which it is
/// going to be used, which DLPack tells the owner. Throws TypeError for what is no array, ValueError for
/// element types and alignments that Satin does not have.
[[nodiscard]] ForeignArray foreign_array(nanobind::handle object, const std::string& name,
                                         std::uintptr_t stream);

/// "(480, 640, 3)"
[[nodiscard]] std::string describe_sizes(const ForeignArray& array);

/// Throws ValueError unless an open device can work on this memory.
void require_reachable(const Device& device, Memory memory, int ordinal, const std::string& name);

/// A picture, or a batch of pictures, in an array. Its axes are a permutation of "NHWC" in which N and C may
/// be missing.
struct Picture {
  /// Axes by the number of dimensions unless they are told: HW, HWC, NHWC. Throws ValueError for axes that do
  /// not fit, for sizes of 0, and for booleans unless all that matters is whether a value is 0.
  Picture(nanobind::handle object, std::string name, const std::optional<std::string>& axes, Alpha alpha,
          Order order, bool booleans, std::uintptr_t stream);

  std::string name;
  ForeignArray array;
  std::string axes;
  MutableImageView view;
};

/// Throws ValueError unless the picture is in host memory.
[[nodiscard]] const MutableImageView& host_view(const Picture& picture);

/// The axes of an array that holds a picture of `shape` beside one with these axes: without C where a single
/// channel is left of several.
[[nodiscard]] std::string result_axes(const std::string& axes, int channels, const Shape& shape);

[[nodiscard]] std::vector<std::int64_t> sizes_of(const Shape& shape, const std::string& axes);

}  // namespace satin::python

#pragma once
// Views of arrays that Python owns, by the buffer protocol, DLPack or __cuda_array_interface__, and the
// axes of pictures in them.

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "satin/device.h"
#include "satin/image.h"

namespace satin::python {

/// The memory of an array, which is kept alive. Constructing, copying and destroying it needs Python's lock.
struct ForeignArray {
  std::byte* data = nullptr;
  std::vector<std::int64_t> sizes;
  std::vector<std::ptrdiff_t> strides;  ///< strides in bytes, of any sign
  Type type = Type::u8;
  bool boolean = false;  ///< whether the elements are booleans, stored as u8
  bool read_only = false;
  Memory memory = Memory::host;
  int ordinal = 0;  ///< number of the CUDA device, for device memory
  nanobind::object keeper;
};

/// Views `object`, called `name` in messages, without copying. `stream` is the CUDA stream on which it will
/// be used, which DLPack passes to the owner. Throws TypeError for an object that is not an array, ValueError
/// for element types and alignments that Satin does not support.
[[nodiscard]] ForeignArray foreign_array(nanobind::handle object, const std::string& name,
                                         std::uintptr_t stream);

/// Returns the sizes for messages, such as "(480, 640, 3)".
[[nodiscard]] std::string describe_sizes(const ForeignArray& array);

/// Throws ValueError unless the device can work on this memory.
void require_reachable(const Device& device, Memory memory, int ordinal, const std::string& name);

/// A picture, or a batch of pictures, in an array. Its axes are a permutation of "NHWC" in which N and C may
/// be missing.
struct Picture {
  /// The axes default to HW, HWC or NHWC by the number of dimensions. Throws ValueError for axes that do not
  /// fit, for sizes of 0, and for booleans unless `booleans` accepts them.
  Picture(nanobind::handle object, std::string name, const std::optional<std::string>& axes, Alpha alpha,
          Order order, bool booleans, std::uintptr_t stream);

  std::string name;
  ForeignArray array;
  std::string axes;
  MutableImageView view;
};

/// Throws ValueError unless the picture is in host memory.
[[nodiscard]] const MutableImageView& host_view(const Picture& picture);

/// Returns the axes of a result of this shape for a picture with these axes: without C if one of several
/// channels remains.
[[nodiscard]] std::string result_axes(const std::string& axes, int channels, const Shape& shape);

[[nodiscard]] std::vector<std::int64_t> sizes_of(const Shape& shape, const std::string& axes);

}  // namespace satin::python

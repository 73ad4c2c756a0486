#pragma once
// Which axis of an array is what.

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "python/foreign_array.h"
#include "satin/image.h"

namespace satin::python {

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

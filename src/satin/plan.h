#pragma once
// Plan once, run many times: a plan has validated its parameters for one shape on one device and owns all the
// workspace that running needs.

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "satin/device.h"
#include "satin/image.h"

namespace satin {

struct PlanImplementation;

/// A prepared filter. Not to be run by two threads at the same time: it owns one workspace.
class Plan {
 public:
  explicit Plan(std::unique_ptr<PlanImplementation> implementation);
  Plan(Plan&&) noexcept;
  Plan& operator=(Plan&&) noexcept;
  ~Plan();

  /// The shape of the output that run() fills.
  [[nodiscard]] const Shape& output_shape() const noexcept;
  /// Bytes of device memory that the plan holds.
  [[nodiscard]] std::size_t workspace_bytes() const noexcept;

  /// Filters `inputs` (the picture, then the side inputs in the order of the filter's record; an empty view
  /// for an optional one that is not used) into `output`. Any view may have any strides. Inputs and output
  /// must not overlap, except that output may be exactly inputs[0] if both are interleaved. With all views in
  /// device memory nothing is allocated, nothing waits, and data errors are told by check(); if a view is in
  /// host memory, run() returns when the result is there and has called check(). Throws Error(usage) if a
  /// view does not have the planned shape.
  ///
  /// A filter of finite reach (blur, erode, dilate) with a mask does nothing but copy where no tile of the
  /// mask is active, and so costs what the active tiles and their reach cost. For large pictures on a GPU
  /// run() then waits for what is before it in the stream, to learn which tiles those are.
  void run(std::span<const ImageView> inputs, const MutableImageView& output, Stream stream = {});
  void run(const ImageView& input, const MutableImageView& output, Stream stream = {}) {
    run(std::span(&input, 1), output, stream);
  }

  /// Waits for the last run() and throws Error(input) if it met NaN, infinity or map values that are out of
  /// range. Returns warnings: values of a float picture so small beside the largest that they count as 0.
  std::vector<std::string> check(Stream stream = {});

 private:
  std::unique_ptr<PlanImplementation> implementation_;
};

}  // namespace satin

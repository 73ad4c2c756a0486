#pragma once
// Plan once, run many times: a plan has validated its parameters for one shape on one device and owns all the
// workspace that running needs.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "satin/device.h"  // IWYU pragma: export
#include "satin/image.h"   // IWYU pragma: export

namespace satin {
struct PlanImplementation;
}

namespace [[gnu::visibility("default")]] satin {

struct FilterRecord;

/// Lets every plan that is made on this device, or on a copy of it, from now on hold at most so many bytes:
/// its workspace, and its copies of pictures that are not in the device's memory. 0, as at first: as many as
/// are free.
///
/// Where a plan for the whole picture is above that, filters of finite reach are run on windows of the
/// picture, one after the other, with the same bytes. Filters that see the whole picture at once (sums and
/// recursions over all of it, components) throw Error(environment) instead, before they take anything.
void limit_memory(const Device& device, std::size_t bytes);
/// The limit that was set last; 0: none.
[[nodiscard]] std::size_t memory_limit(const Device& device);
/// Bytes of the host that this process may still take: what the system has available, and what the control
/// groups of the process leave.
[[nodiscard]] std::size_t free_memory();

/// Told of long work: the share of it that is done, above 0 and up to 1. False cancels the rest.
using Progress = std::function<bool(double done)>;

/// A number that a filter took from its picture for a parameter, or found in it.
struct FoundValue {
  std::string parameter;  ///< "strength", or what it is
  double value = 0;       ///< in the parameter's unit
};

/// The distance from a pixel that its result looks along each axis, in pixels.
struct LocalReach {
  std::int64_t x = 0;  ///< to the left and to the right
  std::int64_t y = 0;  ///< up and down
};

/// A prepared filter. Not to be run by two threads at the same time: it owns one workspace.
class Plan {
 public:
  /// The library's own parts use this: filters make plans.
  explicit Plan(std::unique_ptr<PlanImplementation> implementation);
  /// Leaves a plan that can only be destroyed or assigned to.
  Plan(Plan&&) noexcept;
  /// Likewise.
  Plan& operator=(Plan&&) noexcept;
  ~Plan();

  /// The shape of the output that run() fills.
  [[nodiscard]] const Shape& output_shape() const noexcept;
  /// Bytes of device memory that the plan holds.
  [[nodiscard]] std::size_t workspace_bytes() const noexcept;
  /// True if it runs on windows of the picture, for lack of memory (see limit_memory()).
  [[nodiscard]] bool in_windows() const noexcept;

  /// The reach of results, if they depend on what lies around a pixel alone: not on where in the picture that
  /// is, nor on the picture as a whole, as those of floats do. Then a part of a picture that has so many
  /// pixels more on every side that is no border of the picture gives the same bytes as the whole.
  [[nodiscard]] std::optional<LocalReach> local_reach() const noexcept;

  /// Filters `inputs` (the picture, then the side inputs in the order of the filter's record; an empty view
  /// for an optional one that is not used) into `output`. Any view may have any strides. Inputs and output
  /// must not overlap, except that output may be exactly inputs[0] if both are interleaved. With all views in
  /// device memory nothing is allocated, nothing waits, and data errors are told by check(); if a view is in
  /// host memory, run() returns when the result is there and has called check(). Throws Error(usage) if a
  /// view does not have the planned shape.
  ///
  /// A filter of finite reach with a mask to blend by only copies where no tile of the mask is active. For
  /// large pictures on a GPU run() then waits for what is before it in the stream, to learn which tiles those
  /// are.
  ///
  /// In windows (see limit_memory()) side inputs and output may lie anywhere, but what lies in place of the
  /// output is copied first, above the limit.
  void run(std::span<const ImageView> inputs, const MutableImageView& output, Stream stream = {});
  /// Runs a filter without side inputs.
  void run(const ImageView& input, const MutableImageView& output, Stream stream = {}) {
    run(std::span(&input, 1), output, stream);
  }

  /// The runs that follow take what may vary (ParameterRecord::varies: focus and strength of dof()) from
  /// `parameters`, a struct of the filter in which all else is as it was planned. `same_sides`: they have the
  /// side inputs of the last run, whose analysis is used again. False, and nothing is changed, where the
  /// filter or this plan cannot. May allocate. Throws Error(usage) as planning does.
  [[nodiscard]] bool vary(const void* parameters, bool same_sides);

  /// Lets the runs that follow call `progress` from the thread that calls run(): after every frame of a
  /// batch, every window and every look at the whole picture before the filter, and on the CPU every 100 ms
  /// or so inside of them, with the share as it was. If it returns false, run() throws Error(cancelled); the
  /// output is then unspecified, and the plan may be run again. What it throws reaches the caller. Work for a
  /// CUDA device counts as done when the stream has it. An empty function ends that.
  void watch(Progress progress);

  /// Waits for the last run() and throws Error(input) if it met NaN, infinity or map values that are out of
  /// range. Returns warnings: values of a float picture so small beside the largest that they count as 0.
  std::vector<std::string> check(Stream stream = {});

  /// The values that the last checked run took from its picture. dof(): `strength` that a percentage became,
  /// `focus`, `largest_radius` in pixels, number of `groups` of depth, and `soft`, the share of the pixels at
  /// silhouettes whose depth is a ramp, 0 to 1.
  [[nodiscard]] std::vector<FoundValue> found() const;

 private:
  std::unique_ptr<PlanImplementation> implementation_;
};

}  // namespace satin

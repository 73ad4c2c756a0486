#pragma once
// Plans: filters that are prepared for one shape on one device. A plan has checked its parameters and owns
// all the workspace that running needs, so it can run many times.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "satin/device.h"  // IWYU pragma: export
#include "satin/image.h"   // IWYU pragma: export

namespace satin {
struct PlanImplementation;
}

namespace [[gnu::visibility("default")]] satin {

struct FilterRecord;

/// Limits the memory of every plan that is made on this device, or on a copy of it, from now on: its
/// workspace, and its copies of pictures that are not in the device's memory. 0, the default: all free
/// memory.
///
/// If a plan for the whole picture would exceed the limit, filters of finite reach run on chunks of the
/// picture, one after the other, with the same resulting bytes. Filters that need the whole picture at once
/// (sums and recursions over all of it, components) throw Error(environment) before they allocate anything.
void limit_memory(const Device& device, std::size_t bytes);
/// Returns the limit in bytes; 0: none.
[[nodiscard]] std::size_t memory_limit(const Device& device);
/// Returns the bytes of host memory that this process may still allocate, by the system and by the limits of
/// its control groups.
[[nodiscard]] std::size_t free_memory();

/// Called during long work with the share that is done, above 0 and up to 1. Returning false cancels the
/// rest.
using Progress = std::function<bool(double done)>;

/// A number that a filter derived from its picture, for a parameter or as a finding.
struct FoundValue {
  std::string parameter;  ///< name of the parameter or finding, such as "strength"
  double value = 0;       ///< number in the parameter's unit
  std::size_t step = 0;   ///< index of the filter in its pipeline
};

/// How far from a pixel its result reads along each axis, in pixels.
struct LocalReach {
  std::int64_t x = 0;  ///< to the left and to the right
  std::int64_t y = 0;  ///< up and down
};

/// A prepared filter. Only one thread at a time may run it, because it owns one workspace.
class Plan {
 public:
  /// For use inside the library.
  explicit Plan(std::unique_ptr<PlanImplementation> implementation);
  /// Moves the plan; the source can then only be destroyed or assigned to.
  Plan(Plan&&) noexcept;
  /// Moves the plan; the source can then only be destroyed or assigned to.
  Plan& operator=(Plan&&) noexcept;
  ~Plan();

  /// The shape of the output that run() fills.
  [[nodiscard]] const Shape& output_shape() const noexcept;
  /// Returns the bytes of device memory that the plan holds.
  [[nodiscard]] std::size_t workspace_bytes() const noexcept;
  /// Whether it runs on chunks of the picture, for lack of memory (see limit_memory()).
  [[nodiscard]] bool in_windows() const noexcept;

  /// Returns the reach if each result depends only on the pixels around it, and neither on its position nor
  /// on the whole picture (as results of floats do). A chunk that extends this far beyond its results on
  /// every side that is not a border of the picture then gives the same bytes as the whole picture.
  [[nodiscard]] std::optional<LocalReach> local_reach() const noexcept;

  /// Filters `inputs` (the picture, then the side inputs in the order of the filter's record; an empty view
  /// for an unused optional input) into `output`. Views may have any strides. Inputs and output must not
  /// overlap, except that output may be exactly inputs[0] if both are interleaved. If all views are in device
  /// memory, run() allocates nothing and does not wait, and check() reports errors in the data. If a view is
  /// in host memory, run() waits for the result and calls check(). Throws Error(usage) if a view does not
  /// have the planned shape.
  ///
  /// A filter of finite reach that blends by a mask only copies the tiles where the mask is 0 everywhere
  /// near. For large pictures on a GPU, run() then waits for earlier work in the stream to learn which tiles
  /// those are. With a picture of an aperture, dof() waits to read it, and allocates if it has changed.
  ///
  /// In chunks (see limit_memory()) side inputs and output may be in any memory, but an input that overlaps
  /// the output is copied first, beyond the limit.
  void run(std::span<const ImageView> inputs, const MutableImageView& output, Stream stream = {});
  /// Runs a filter without side inputs.
  void run(const ImageView& input, const MutableImageView& output, Stream stream = {}) {
    run(std::span(&input, 1), output, stream);
  }

  /// Changes the parameters that may vary (ParameterRecord::varies, such as focus and strength of dof()) for
  /// the following runs. `parameters` is a struct of the filter in which everything else is as planned.
  /// `same_sides` says that the following runs have the side inputs of the last run, whose analysis is then
  /// reused. Returns false and changes nothing if the filter or this plan does not support it. May allocate.
  /// Throws Error(usage) as planning does.
  [[nodiscard]] bool vary(const void* parameters, bool same_sides);

  /// Makes the following runs call `progress` from the thread that calls run(): after every frame of a batch,
  /// every chunk and every measurement of the whole picture, and on the CPU also about every 100 ms in
  /// between, with an unchanged share. If it returns false, run() throws Error(cancelled); the output is then
  /// unspecified, and the plan may run again. Its exceptions reach the caller. Work for a CUDA device counts
  /// as done when it is queued. An empty function stops the calls.
  void watch(Progress progress);

  /// Waits for the last run() and throws Error(input) if it met NaN, infinity or map values out of range.
  /// Returns warnings, for instance that values of a float picture are too small beside the largest and count
  /// as 0.
  std::vector<std::string> check(Stream stream = {});

  /// Returns the values that the last checked run derived from its picture. For dof(): `strength` in pixels
  /// if it was set in percent, `focus`, `largest_radius` in pixels, the number of `groups` of depth, and
  /// `soft`, the share of silhouette pixels whose depth is a ramp, 0 to 1.
  [[nodiscard]] std::vector<FoundValue> found() const;

 private:
  std::unique_ptr<PlanImplementation> implementation_;
};

/// Parameters of a filter, such as Blur, which name the filter's record.
template <class P>
concept FilterParameters = std::is_same_v<decltype(P::record()), const FilterRecord&>;

/// Prepares a filter, given by its record and its parameter struct.
[[nodiscard]] Plan plan_filter(const FilterRecord& record, const Device& device, const Shape& shape,
                               const void* parameters);
/// Runs a filter once, as its own function does.
[[nodiscard]] Image run_filter(const FilterRecord& record, const Device& device, const ImageView& image,
                               const void* parameters);

/// Prepares the filter of these parameters for pictures of this shape; see satin/filters.h.
template <FilterParameters P>
[[nodiscard]] Plan plan(const Device& device, const Shape& shape, const P& parameters) {
  return plan_filter(P::record(), device, shape, &parameters);
}

}  // namespace satin

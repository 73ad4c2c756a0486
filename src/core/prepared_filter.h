#pragma once
// What a filter's file hands to a plan: its operations, prepared for one shape.

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "core/maths/fixed_point.h"
#include "satin/plan.h"

namespace satin {

struct PreparedFilter {
  PreparedFilter() = default;
  PreparedFilter(const PreparedFilter&) = delete;
  PreparedFilter& operator=(const PreparedFilter&) = delete;
  virtual ~PreparedFilter() = default;

  [[nodiscard]] virtual std::size_t workspace_bytes() const noexcept = 0;
  /// Before each run(), of the same inputs: what floats need to know of the whole picture, for filters that
  /// may then be run on parts of it. The others measure in run().
  virtual void measure(std::span<const ImageView> /*inputs*/, Measured* /*measured*/, Stream /*stream*/) {}
  /// Inputs and output are single frames, interleaved, in the backend's memory; output overlaps no input.
  /// `measured` is one Measured in the backend's memory, null unless the plan was made with `measures`.
  virtual void run(std::span<const ImageView> inputs, const MutableImageView& output, Measured* measured,
                   Stream stream) = 0;
};

/// `inputs` are the shapes that run() will demand (width 0: not used); `measures`: the filter reads floats.
[[nodiscard]] Plan make_plan(const Device& device, std::vector<Shape> inputs, const Shape& output,
                             bool measures, std::unique_ptr<PreparedFilter> filter);

/// The simple function of a filter: runs the plan once into a new picture where inputs[0] lives, and checks
/// it.
[[nodiscard]] Image run_once(const Device& device, Plan plan, std::span<const ImageView> inputs);

}  // namespace satin

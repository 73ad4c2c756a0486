#pragma once
// What a filter's file hands to a plan: its operations, prepared for one shape.

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/maths/fixed_point.h"
#include "core/windows.h"
#include "satin/plan.h"

namespace satin {

struct PreparedFilter {
  PreparedFilter() = default;
  PreparedFilter(const PreparedFilter&) = delete;
  PreparedFilter& operator=(const PreparedFilter&) = delete;
  virtual ~PreparedFilter() = default;

  [[nodiscard]] virtual std::size_t workspace_bytes() const noexcept = 0;
  /// What a filter needs to know of the whole picture is measured before run(): begin(), then each of so many
  /// measurements. A filter that is run on windows measures all of them before the first is run. Filters that
  /// always see the whole picture may measure it in run().
  [[nodiscard]] virtual int measurements() const noexcept { return 0; }
  virtual void begin(Measured* /*measured*/, Stream /*stream*/) {}
  /// Adds what measurement `step` finds in `inner`, which lies in the inputs with all that its results look
  /// at.
  virtual void measure(int /*step*/, std::span<const ImageView> /*inputs*/, const Rectangle& /*inner*/,
                       Measured* /*measured*/, Stream /*stream*/) {}
  /// Inputs and output are single frames, interleaved, in the backend's memory; output overlaps no input.
  /// `measured` is one Measured in the backend's memory, null unless the plan was made with `measures`.
  virtual void run(std::span<const ImageView> inputs, const MutableImageView& output, Measured* measured,
                   Stream stream) = 0;
  /// What the runs since the last call met: adds warnings, throws Error(input). Waits.
  virtual void check(std::vector<std::string>& /*warnings*/, Stream /*stream*/) {}
};

/// A filter whose result does not depend on where in the picture it is, beyond its reach.
struct SizedFilter {
  Reach reach;
  /// The filter for pictures of this size, with parameters that have been worked out for the whole picture.
  std::function<std::unique_ptr<PreparedFilter>(std::int64_t width, std::int64_t height)> prepare;
};

/// What a plan demands of run().
struct PlanShapes {
  std::vector<Shape> inputs;  ///< width 0: not used
  Shape output;
  bool measures = false;  ///< the filter reads floats
};

/// A plan for a filter that always sees the whole picture. Throws NoMemory if it is above the limit.
[[nodiscard]] Plan make_plan(const Device& device, PlanShapes shapes, std::unique_ptr<PreparedFilter> filter);

/// Runs `whole`, or the filter for the whole picture, where memory suffices for it; otherwise the filter on
/// windows with what they look at, to the same bytes. The side inputs have the size of the picture.
[[nodiscard]] Plan make_plan(const Device& device, PlanShapes shapes, SizedFilter filter,
                             const std::function<std::unique_ptr<PreparedFilter>()>& whole = {});

/// A new picture where the input is: in the host's memory or in the device's.
[[nodiscard]] Image result_image(const Device& device, const Shape& shape, Memory input);

/// The simple function of a filter: runs the plan once into a new picture where inputs[0] lives, and checks
/// it.
[[nodiscard]] Image run_once(const Device& device, Plan plan, std::span<const ImageView> inputs);

}  // namespace satin

#pragma once
// What a filter hands to its plan: what it needs to know, and its operations, prepared for one size.

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/backend.h"
#include "core/few.h"
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
  /// Does Plan::vary() for this filter. False: the filter cannot vary.
  [[nodiscard]] virtual bool vary(const void* /*parameters*/, bool /*same_sides*/) { return false; }
  /// Tells what the runs since the last call met: adds warnings, throws Error(input). Waits.
  virtual void check(std::vector<std::string>& /*warnings*/, Stream /*stream*/) {}
  /// Drops what check() would tell: the run was cancelled, or failed. Waits.
  virtual void forget(Stream /*stream*/) {}
  /// The values of Plan::found(), after check().
  [[nodiscard]] virtual std::vector<FoundValue> found() const { return {}; }
};

/// A picture and its side inputs: something for each.
inline constexpr std::size_t most_inputs = 4;
template <class T>
using OfInputs = Few<T, most_inputs>;

/// What a filter tells its plan. The plan decides whether the filter sees the whole picture or windows of it,
/// skips what the mask leaves alone, and goes through the frames.
struct FilterPlan {
  using Prepare = std::function<std::unique_ptr<PreparedFilter>(std::int64_t width, std::int64_t height)>;

  Shape output{};
  bool measures = false;  ///< the filter reads floats
  /// None: it always sees the whole picture. Otherwise its result does not depend on where in the picture it
  /// is, beyond this, and it can be run on windows.
  std::optional<Reach> reach{};
  /// The filter for pictures of this size, with parameters that have been worked out for the whole picture.
  Prepare prepare{};
  /// What its windows cost; null: what it measures for itself, beside Measured, ties it to one prepared size.
  const WindowCosts Backend::*costs = &Backend::mean_windows;
  /// The filter has no reach: every result is a sum of integers over all that lies above it and to the left,
  /// modulo its type, so that a band of rows by itself lacks what the last row above it adds up to, and
  /// nothing else.
  bool adds_up = false;
  double growth = 1;  ///< results of floats have at most so many times the picture's largest magnitude

  // Said by the record.
  OfInputs<Shape> inputs{};  ///< width 0: not used
  std::size_t mask = 0;      ///< among the inputs; 0: none whose zeros leave the picture's bytes alone
};

/// Adds warnings about what was measured, one element a frame, for a filter with this FilterPlan::growth.
/// Throws Error(input) for values that it does not take.
void check_measured(std::span<const Measured> frames, double growth, std::vector<std::string>& warnings);

/// The filter for the whole picture. If it has a mask, a reach and a picture that is large enough for active
/// tiles to be worth the search, it gives the same bytes by windows around those tiles; elsewhere the input's
/// bytes are copied.
[[nodiscard]] std::unique_ptr<PreparedFilter> prepare_whole(Backend& backend, const FilterPlan& filter);

/// Throws NoMemory where there is none even for windows.
[[nodiscard]] Plan make_plan(const Device& device, FilterPlan filter);

/// A new picture where the input is: in the host's memory or in the device's.
[[nodiscard]] Image result_image(const Device& device, const Shape& shape, Memory input);

}  // namespace satin

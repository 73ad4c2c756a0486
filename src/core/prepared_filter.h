#pragma once
// What a filter hands to its plan: what it needs to know, and its operations, prepared for one size.

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/backend.h"
#include "core/few.h"
#include "core/plan_operations.h"
#include "core/windows.h"
#include "satin/plan.h"

namespace satin {

struct FilterPlan;

/// What is measured in the inputs before a filter of floats runs. A pass over the picture fills in a
/// Measured, and another one for the guide.
struct InputMeasures {
  std::optional<MeasureJob> picture{};  ///< its size and channels are filled in
  std::size_t map = 0;                  ///< among the inputs: floats that must be from 0 to 1; 0: none
  std::size_t guide = 0;                ///< among the inputs: floats with a range of their own; 0: none
  bool in_run = false;                  ///< run() measures: it gets a Measured that is cleared

  [[nodiscard]] bool pass() const noexcept { return picture || map != 0 || guide != 0; }
  /// Number of Measured for each frame.
  [[nodiscard]] std::size_t count() const noexcept { return guide != 0 ? 2 : pass() || in_run ? 1 : 0; }
};

/// The job for a picture of floats; none for integers.
[[nodiscard]] inline std::optional<MeasureJob> range_of(const Shape& picture, const MeasureJob& job = {}) {
  return picture.type == Type::f32 ? std::optional(job) : std::nullopt;
}

/// The input if it holds floats, otherwise 0.
[[nodiscard]] inline std::size_t float_input(std::span<const Shape> inputs, std::size_t input) {
  return inputs[input].type == Type::f32 ? input : 0;
}

class PreparedFilter {
 public:
  PreparedFilter() = default;
  PreparedFilter(const PreparedFilter&) = delete;
  PreparedFilter& operator=(const PreparedFilter&) = delete;
  virtual ~PreparedFilter() = default;

  [[nodiscard]] virtual std::size_t workspace_bytes() const noexcept = 0;

  /// Prepares the plan's InputMeasures for pictures of this size.
  void prepare_measures(Backend& backend, const FilterPlan& plan, std::int64_t width, std::int64_t height);
  /// Passes over the whole picture before run(): begin(), then measure() for each pass and each chunk.
  [[nodiscard]] int measurements() const noexcept {
    return (measures_.pass() ? 1 : 0) + (searches() ? 1 : 0);
  }
  void begin(Measured* measured, Stream stream);
  /// `inner` is the part of the inputs that counts in this chunk.
  void measure(int step, std::span<const ImageView> inputs, const Rectangle& inner, Measured* measured,
               Stream stream);

  /// Inputs and output are single frames, interleaved, in the backend's memory; output overlaps no input.
  /// `measured` is in the backend's memory: null without measures, and followed by the guide's.
  virtual void run(std::span<const ImageView> inputs, const MutableImageView& output, Measured* measured,
                   Stream stream) = 0;
  /// The picture whose range is measured: 0 stands for pixels that do not count.
  virtual ImageView counted(std::span<const ImageView> inputs, Stream /*stream*/) { return inputs.front(); }
  /// Does Plan::vary() for this filter. False: the filter cannot vary.
  [[nodiscard]] virtual bool vary(const void* /*parameters*/, bool /*same_sides*/) { return false; }
  /// Tells what the runs since the last call met: adds warnings, throws Error(input). Waits.
  virtual void check(std::vector<std::string>& /*warnings*/, Stream /*stream*/) {}
  /// Drops what check() would tell: the run was cancelled, or failed. Waits.
  virtual void forget(Stream /*stream*/) {}
  /// The values of Plan::found(), after check().
  [[nodiscard]] virtual std::vector<FoundValue> found() const { return {}; }

 private:
  /// A search is a pass after the one that measures. A filter with FilterPlan::mask has none.
  [[nodiscard]] virtual bool searches() const noexcept { return false; }
  virtual void begin_search(Stream /*stream*/) {}
  virtual void search(std::span<const ImageView> /*inputs*/, const Rectangle& /*inner*/,
                      Measured* /*measured*/, Stream /*stream*/) {}

  InputMeasures measures_;
  std::unique_ptr<MeasureOperation> range_;  ///< null where nothing is measured
  std::unique_ptr<MeasureOperation> guide_range_;
};

/// A filter that is one operation: `run` is called with it and with the arguments of PreparedFilter::run().
template <class Operation, class Run>
class OneOperation final : public PreparedFilter {
 public:
  OneOperation(std::unique_ptr<Operation> operation, Run run)
      : operation_(std::move(operation)), run_(std::move(run)) {}

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return operation_->workspace_bytes();
  }
  void run(std::span<const ImageView> inputs, const MutableImageView& output, Measured* measured,
           Stream stream) override {
    run_(*operation_, inputs, output, measured, stream);
  }

 private:
  std::unique_ptr<Operation> operation_;
  Run run_;
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
  InputMeasures measures{};
  /// None: it always sees the whole picture. Otherwise its result does not depend on where in the picture it
  /// is, beyond this, and it can be run on windows.
  std::optional<Reach> reach{};
  /// The filter for pictures of this size, with parameters that have been worked out for the whole picture.
  Prepare prepare{};
  /// What its windows cost.
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

/// This job for pictures of another size.
template <class Job>
[[nodiscard]] Job resized(Job job, std::int64_t width, std::int64_t height) {
  job.width = width;
  job.height = height;
  return job;
}

/// Prepares a filter from the backend and from shapes and jobs of the size that is wanted.
template <class Filter, class... Sized>
FilterPlan::Prepare prepare_sized(const Device& device, const Sized&... sized) {
  return [&backend = device.backend(), sized...](std::int64_t width, std::int64_t height) {
    return std::make_unique<Filter>(backend, resized(sized, width, height)...);
  };
}

/// Prepares a filter that is one operation, as OneOperation, by its job for pictures of any size.
template <class Job, class Run>
FilterPlan::Prepare prepare_one(const Device& device, const Job& job, const Run& run) {
  return [&backend = device.backend(), job, run](std::int64_t width, std::int64_t height) {
    return std::make_unique<OneOperation<typename Job::Operation, Run>>(
        backend.prepare(resized(job, width, height)), run);
  };
}

/// InputMeasures::count() for each frame.
[[nodiscard]] Buffer allocate_measured(Backend& backend, const FilterPlan& filter);
/// Adds warnings about what was measured. Throws Error(input) for values that the filter does not take.
void check_measured(Backend& backend, const FilterPlan& filter, const Buffer& measured,
                    std::vector<std::string>& warnings, Stream stream);

/// The filter with its measures.
[[nodiscard]] std::unique_ptr<PreparedFilter> prepare(Backend& backend, const FilterPlan& filter,
                                                      std::int64_t width, std::int64_t height);
/// The filter for the whole picture. If it has a mask, a reach and a picture that is large enough for active
/// tiles to be worth the search, it gives the same bytes by windows around those tiles; elsewhere the input's
/// bytes are copied.
[[nodiscard]] std::unique_ptr<PreparedFilter> prepare_whole(Backend& backend, const FilterPlan& filter);

/// Throws NoMemory where there is none even for windows.
[[nodiscard]] Plan make_plan(const Device& device, FilterPlan filter);

/// A new picture where the input is: in the host's memory or in the device's.
[[nodiscard]] Image result_image(const Device& device, const Shape& shape, Memory input);

}  // namespace satin

#pragma once
// The interface between a filter and its plan: FilterPlan describes the filter, PreparedFilter runs it for
// one size.

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/backend.h"
#include "core/plan_operations.h"
#include "core/windows.h"
#include "satin/plan.h"

namespace satin {

/// A vector of at most `most` elements with inline storage: allocations while a filter is planned would take
/// much of the time of a small picture. Throws std::length_error where it would have more.
template <class T, std::size_t most>
class Few {
 public:
  Few() = default;
  explicit Few(std::size_t size) { resize(size); }
  Few(std::size_t size, const T& value) : Few(size) {
    for (T& element : *this) element = value;
  }
  explicit Few(std::span<const T> elements) : Few(elements.size()) {
    for (std::size_t i = 0; i < size_; ++i) elements_[i] = elements[i];
  }

  void resize(std::size_t size) {
    if (size > most) throw std::length_error("Few");
    for (std::size_t i = size; i < size_; ++i) elements_[i] = T();
    size_ = size;
  }
  void push_back(T element) {
    resize(size_ + 1);
    back() = std::move(element);
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] T* data() noexcept { return elements_.data(); }
  [[nodiscard]] const T* data() const noexcept { return elements_.data(); }
  T* begin() noexcept { return data(); }
  T* end() noexcept { return data() + size_; }
  [[nodiscard]] const T* begin() const noexcept { return data(); }
  [[nodiscard]] const T* end() const noexcept { return data() + size_; }
  T& operator[](std::size_t i) noexcept { return elements_[i]; }
  const T& operator[](std::size_t i) const noexcept { return elements_[i]; }
  T& front() noexcept { return elements_[0]; }
  [[nodiscard]] const T& front() const noexcept { return elements_[0]; }
  T& back() noexcept { return elements_[size_ - 1]; }
  [[nodiscard]] const T& back() const noexcept { return elements_[size_ - 1]; }

 private:
  std::array<T, most> elements_{};
  std::size_t size_ = 0;
};

struct FilterPlan;
struct Geometry;

/// The measures of the inputs before a filter of floats runs. Results are one Measured for each frame,
/// followed by one for the guide.
struct InputMeasures {
  std::optional<MeasureJob> picture{};  ///< size and channels are filled in by the plan
  std::size_t map = 0;                  ///< index of an input of floats that must be from 0 to 1; 0: none
  std::size_t guide = 0;                ///< index of an input of floats with a range of its own; 0: none
  bool in_run = false;                  ///< whether run() itself measures, into a cleared Measured

  [[nodiscard]] bool pass() const noexcept { return picture || map != 0 || guide != 0; }
  /// Returns the number of Measured for each frame.
  [[nodiscard]] std::size_t count() const noexcept { return guide != 0 ? 2 : pass() || in_run ? 1 : 0; }
};

/// Returns the job for a picture of floats; none for integers.
[[nodiscard]] inline std::optional<MeasureJob> range_of(const Shape& picture, const MeasureJob& job = {}) {
  return picture.type == Type::f32 ? std::optional(job) : std::nullopt;
}

/// Returns the index of the input if it holds floats, otherwise 0.
[[nodiscard]] inline std::size_t float_input(std::span<const Shape> inputs, std::size_t input) {
  return inputs[input].type == Type::f32 ? input : 0;
}

/// A filter prepared for inputs of one size.
class PreparedFilter {
 public:
  PreparedFilter() = default;
  PreparedFilter(const PreparedFilter&) = delete;
  PreparedFilter& operator=(const PreparedFilter&) = delete;
  virtual ~PreparedFilter() = default;

  [[nodiscard]] virtual std::size_t workspace_bytes() const noexcept = 0;

  void prepare_measures(Backend& backend, const FilterPlan& plan, std::int64_t width, std::int64_t height);
  /// Returns the number of passes over the whole picture before run(): begin(), then measure() for each pass
  /// and chunk.
  [[nodiscard]] int measurements() const noexcept {
    return (measures_.pass() ? 1 : 0) + (searches() ? 1 : 0);
  }
  void begin(Measured* measured, Stream stream);
  /// Does one pass over a chunk. `inner` are the pixels of the inputs that count in it.
  void measure(int step, std::span<const ImageView> inputs, const Rectangle& inner, Measured* measured,
               Stream stream);

  /// Whether the picture and the output of run() may have the layout of this view.
  [[nodiscard]] virtual bool accepts(const ImageView& view) const noexcept { return view.interleaved(); }
  /// Runs the filter on single frames in the backend's memory, interleaved or as accepts() says. The output
  /// overlaps no input. `measured` is in the backend's memory; null without measures.
  virtual void run(std::span<const ImageView> inputs, const MutableImageView& output, Measured* measured,
                   Stream stream) = 0;
  /// Returns the picture whose range is measured. Pixels that do not count are 0 in it.
  virtual ImageView counted(std::span<const ImageView> inputs, Stream /*stream*/) { return inputs.front(); }
  /// Implements Plan::vary(). Returns false if the filter cannot vary.
  [[nodiscard]] virtual bool vary(const void* /*parameters*/, bool /*same_sides*/) { return false; }
  /// Reports on the runs since the last call: adds warnings, or throws Error(input). Waits.
  virtual void check(std::vector<std::string>& /*warnings*/, Stream /*stream*/) {}
  /// Discards what check() would report, after a run that was cancelled or failed. Waits.
  virtual void forget(Stream /*stream*/) {}
  /// Returns the values of Plan::found(), after check().
  [[nodiscard]] virtual std::vector<FoundValue> found() const { return {}; }

 private:
  /// Whether there is a pass after the measures, in which search() sees every chunk. Not with
  /// FilterPlan::mask.
  [[nodiscard]] virtual bool searches() const noexcept { return false; }
  virtual void begin_search(Stream /*stream*/) {}
  virtual void search(std::span<const ImageView> /*inputs*/, const Rectangle& /*inner*/,
                      Measured* /*measured*/, Stream /*stream*/) {}

  InputMeasures measures_;
  std::unique_ptr<MeasureOperation> range_;  ///< null where nothing is measured
  std::unique_ptr<MeasureOperation> guide_range_;
};

/// A filter that is one operation. Calls `run` with it and the arguments of PreparedFilter::run().
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

/// A list with an element for the picture and for each side input.
inline constexpr std::size_t most_inputs = 5;
template <class T>
using OfInputs = Few<T, most_inputs>;

/// The description of a filter for its plan. The plan decides whether the filter runs on the whole picture or
/// on windows of it, skips pixels that the mask leaves alone, and loops over frames.
struct FilterPlan {
  using Prepare = std::function<std::unique_ptr<PreparedFilter>(std::int64_t width, std::int64_t height)>;

  Shape output{};
  InputMeasures measures{};
  /// How far results read. None: the filter always needs the whole picture. Otherwise a result depends only
  /// on the pixels within reach, and the filter can run on windows.
  std::optional<Reach> reach{};
  /// Prepares the filter for inputs of this size, with parameters that were resolved for the whole picture.
  Prepare prepare{};
  const WindowCosts Backend::*costs = &Backend::mean_windows;
  /// Whether every result is the sum, modulo its type, of all pixels above and to the left. Such a filter has
  /// no reach, but a chunk of rows only lacks the results of the last row above it.
  bool adds_up = false;
  /// Whether a pass over the whole picture precedes every run (PreparedFilter::searches()).
  bool searches = false;
  double growth = 1;  ///< bound of float results, in units of the largest magnitude of the picture
  /// How the result lies on the picture, for a filter that changes the size (core/geometry.h). It has no
  /// reach, and `prepare` makes a ReshapingFilter.
  std::shared_ptr<const Geometry> geometry{};

  // Set from the record:
  OfInputs<Shape> inputs{};  ///< width 0: not used
  std::size_t mask = 0;      ///< index of the input whose zeros leave the picture's bytes alone; 0: none
};

template <class Job>
[[nodiscard]] Job resized(Job job, std::int64_t width, std::int64_t height) {
  job.width = width;
  job.height = height;
  return job;
}

/// Returns a function that constructs a filter from the backend and from shapes and jobs of the wanted size.
template <class Filter, class... Sized>
FilterPlan::Prepare prepare_sized(const Device& device, const Sized&... sized) {
  return [&backend = device.backend(), sized...](std::int64_t width, std::int64_t height) {
    return std::make_unique<Filter>(backend, resized(sized, width, height)...);
  };
}

/// Returns a function that prepares a OneOperation from its job.
template <class Job, class Run>
FilterPlan::Prepare prepare_one(const Device& device, const Job& job, const Run& run) {
  return [&backend = device.backend(), job, run](std::int64_t width, std::int64_t height) {
    return std::make_unique<OneOperation<typename Job::Operation, Run>>(
        backend.prepare(resized(job, width, height)), run);
  };
}

/// Allocates InputMeasures::count() Measured for each frame.
[[nodiscard]] Buffer allocate_measured(Backend& backend, const FilterPlan& filter);
/// Adds warnings about measured values. Throws Error(input) for values that the filter cannot process.
void check_measured(Backend& backend, const FilterPlan& filter, const Buffer& measured,
                    std::vector<std::string>& warnings, Stream stream);

[[nodiscard]] std::unique_ptr<PreparedFilter> prepare(Backend& backend, const FilterPlan& filter,
                                                      std::int64_t width, std::int64_t height);
/// Prepares the filter for the whole picture. With a mask, a reach and a picture that is large enough, it
/// runs on windows around the active tiles of the mask, with the same bytes, and copies the input elsewhere.
[[nodiscard]] std::unique_ptr<PreparedFilter> prepare_whole(Backend& backend, const FilterPlan& filter);

/// Returns Plan::local_reach() of a plan of this description.
[[nodiscard]] std::optional<LocalReach> local_reach(const FilterPlan& filter);

/// Prepares a plan. Throws NoMemory if memory does not suffice even for small chunks.
[[nodiscard]] Plan make_plan(const Device& device, FilterPlan filter);

/// Allocates a picture in the same memory as the input, host or device.
[[nodiscard]] Image result_image(const Device& device, const Shape& shape, Memory input);

}  // namespace satin

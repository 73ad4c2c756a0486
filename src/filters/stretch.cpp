// The filter stretch: two percentiles of the window around every pixel become black and white.
//
// Both percentiles are pictures from order/rank.h; order/stretch.h maps each pixel between them.

#include "satin/filters/stretch.h"

#include <memory>

#include "core/backend.h"
#include "core/record.h"
#include "core/side_inputs.h"
#include "order/rank.h"
#include "order/stretch.h"
#include "satin/error.h"
#include "statistics/local_plan.h"

namespace satin {
namespace {

enum Input { picture, mask };

constexpr int largest_rank_window = 2 * largest_rank_reach + 1;

/// Jobs for both percentiles of the same windows, and for the mapping between them.
struct StretchJobs {
  RankJob low;
  RankJob high;
  StretchJob stretch;
};

StretchJobs resized(StretchJobs jobs, std::int64_t width, std::int64_t height) {
  jobs.low.width = jobs.high.width = jobs.stretch.width = width;
  jobs.low.height = jobs.high.height = jobs.stretch.height = height;
  return jobs;
}

StretchJobs jobs_of(std::span<const Shape> shapes, const PercentileStretch& parameters) {
  const Shape& shape = shapes[picture];
  check_local(shape, parameters.window, parameters.border);
  check_range("window", parameters.window, 1, largest_rank_window);
  check_range("low", parameters.low, 0, 50);
  check_range("high", parameters.high, 50, 100);
  if (percent_of(parameters.low) >= percent_of(parameters.high))
    throw Error(ErrorKind::usage, "low " + print_real(parameters.low) + " must be below high " +
                                      print_real(parameters.high) + ".");
  StretchJobs jobs;
  jobs.low.channels = shape.channels;
  jobs.low.type = shape.type;
  jobs.low.weighted = shape.alpha == Alpha::straight;
  jobs.low.percent = percent_of(parameters.low);
  jobs.low.reach.x = jobs.low.reach.y = parameters.window / 2;
  jobs.low.border = parameters.border;
  jobs.high = jobs.low;
  jobs.high.percent = percent_of(parameters.high);
  jobs.stretch.channels = shape.channels;
  jobs.stretch.colours = colours_of(shape);
  jobs.stretch.type = shape.type;
  jobs.stretch.mask_maximum = checked_mask_maximum(shapes[mask], shape);
  return resized(jobs, shape.width, shape.height);
}

class PreparedStretch final : public PreparedFilter {
 public:
  PreparedStretch(Backend& backend, const Shape& shape, const StretchJobs& jobs)
      : low_rank_(backend.prepare(jobs.low)),
        high_rank_(backend.prepare(jobs.high)),
        stretch_(backend.prepare(jobs.stretch)),
        low_(backend.allocate(shape)),
        high_(backend.allocate(shape)) {}

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return low_rank_->workspace_bytes() + high_rank_->workspace_bytes() + 2 * byte_size(low_.shape());
  }

  void run(std::span<const ImageView> inputs, const MutableImageView& output, Measured*,
           Stream stream) override {
    low_rank_->run({inputs[picture], {}, {}, low_.view()}, stream);
    high_rank_->run({inputs[picture], {}, {}, high_.view()}, stream);
    stretch_->run({inputs[picture], low_.view(), high_.view(), inputs[mask], output}, stream);
  }

 private:
  std::unique_ptr<RankOperation> low_rank_;
  std::unique_ptr<RankOperation> high_rank_;
  std::unique_ptr<StretchJob::Operation> stretch_;
  Image low_;
  Image high_;
};

FilterPlan describe(const Device& device, std::span<const Shape> shapes,
                    const PercentileStretch& parameters) {
  const Shape shape = shapes[picture];
  const StretchJobs jobs = jobs_of(shapes, parameters);
  const std::int64_t reach = parameters.window / 2;
  return {shape,
          {range_of(shape)},
          Reach{reach, reach, parameters.border == Border::wrap},
          prepare_sized<PreparedStretch>(device, shape, jobs)};
}

}  // namespace

const FilterRecord& stretch_record() {
  static const FilterRecord filter = record::of(
      &describe, {.name = "stretch",
                  .category = "statistics",
                  .help = "raise local contrast: two percentiles around every pixel become black and white",
                  .parameters = {record::window(&PercentileStretch::window, largest_rank_window),
                                 record::real(&PercentileStretch::low, 0, 50,
                                              {"low", "%", "percentile that becomes black"}),
                                 record::real(&PercentileStretch::high, 50, 100,
                                              {"high", "%", "percentile that becomes white"}),
                                 record::inner_border(&PercentileStretch::border)},
                  .inputs = {record::blend_mask<PercentileStretch>()},
                  .space = Space::encoded,
                  .reach = record::reach<PercentileStretch>(
                      [](const PercentileStretch& stretch, const Shape&) { return stretch.window / 2.0; })});
  return filter;
}

}  // namespace satin

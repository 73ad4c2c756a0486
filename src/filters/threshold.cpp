// The filter threshold: black and white by one level for all pixels (fixed, otsu) or by one for each pixel
// from the mean and deviation of its window (bradley, niblack, sauvola, wolf, nick; statistics/box_stats.h).

#include "satin/filters/threshold.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "core/record.h"
#include "core/side_inputs.h"
#include "pixels/fixed_threshold.h"
#include "pixels/pixels.h"
#include "satin/error.h"
#include "statistics/box_stats.h"
#include "statistics/local_plan.h"

namespace satin {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::usage, what); }

void check(const Shape& shape, const Threshold& threshold) {
  check_local(shape, threshold.window, threshold.border);
  if (threshold.range && !(*threshold.range >= 1e-6 && std::isfinite(*threshold.range)))
    refuse("range " + print_real(*threshold.range) + ": must be 0.000001 or more.");
  if (threshold.k && !std::isfinite(*threshold.k)) refuse("k must be a finite number.");
  if (!std::isfinite(threshold.level)) refuse("level must be a finite number.");
}

/// Default of k for each method, in the order of Binarisation: otsu, bradley, niblack, sauvola, wolf, nick,
/// fixed.
constexpr double default_k[] = {0, 0.15, -0.2, 0.2, 0.5, -0.1, 0};

/// Returns sauvola's R: 2^(bits - 1), or half of white for floats.
double default_range(Type type) { return type == Type::u8 ? 128 : type == Type::u16 ? 32768 : 0.5; }

BoxStatsJob stats_job(const Shape& shape, const Threshold& threshold) {
  BoxStatsJob job = local_job(shape, threshold.window, threshold.border);
  job.rule = {static_cast<ThresholdMethod>(threshold.method),
              threshold.k.value_or(default_k[static_cast<std::size_t>(threshold.method)]),
              threshold.range.value_or(default_range(shape.type))};
  job.inverted = threshold.invert;
  return job;
}

/// Returns the last code of the first class for the split with the largest variance between the classes,
/// w0 w1 (m0 - m1)^2 (Otsu 1979). Ties go to the lowest code.
std::size_t otsu_code(const std::vector<std::uint64_t>& counts) {
  double all = 0;
  double all_sum = 0;
  for (std::size_t code = 0; code < counts.size(); ++code) {
    all += static_cast<double>(counts[code]);
    all_sum += static_cast<double>(counts[code]) * static_cast<double>(code);
  }
  double below = 0;
  double below_sum = 0;
  double best = -1;
  std::size_t best_code = 0;
  for (std::size_t code = 0; code < counts.size(); ++code) {
    if (counts[code] == 0) continue;
    below += static_cast<double>(counts[code]);
    below_sum += static_cast<double>(counts[code]) * static_cast<double>(code);
    const double above = all - below;
    const double distance = above > 0 ? below_sum / below - (all_sum - below_sum) / above : 0;
    const double variance = below * above * distance * distance;
    if (variance > best) {
      best = variance;
      best_code = code;
    }
  }
  return best_code;
}

/// Compares all pixels with one level, which is given or found by otsu.
class PreparedFixedThreshold final : public PreparedFilter {
 public:
  PreparedFixedThreshold(Backend& backend, const Shape& shape, const Threshold& threshold)
      : plane_(value_plane(shape, level_float_bits)),
        level_(backend.prepare(FixedThresholdJob{shape.width, shape.height, plane_, threshold.invert})),
        fixed_(threshold.level * white_of(shape.type)) {
    if (threshold.method == Binarisation::otsu) counts_.resize(codes_of(plane_.type));
    found_.resize(counts_.size());
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return level_->workspace_bytes(); }

  // Searches after floats are measured, because otsu's codes depend on their range.
  [[nodiscard]] bool searches() const noexcept override { return !counts_.empty(); }
  void begin_search(Stream /*stream*/) override { std::fill(counts_.begin(), counts_.end(), 0); }
  void search(std::span<const ImageView> inputs, const Rectangle& inner, Measured* measured,
              Stream stream) override {
    codes_ = level_->count(part_of(inputs[0], inner), measured, found_.data(), stream);
    std::transform(found_.begin(), found_.end(), counts_.begin(), counts_.begin(), std::plus<>());
  }

  void run(std::span<const ImageView> inputs, const MutableImageView& output, Measured* /*measured*/,
           Stream stream) override {
    level_->run(inputs[0], counts_.empty() ? fixed_ : otsu_level(), output, stream);
  }

 private:
  [[nodiscard]] double otsu_level() const {
    const auto code = static_cast<double>(otsu_code(counts_));
    if (plane_.type != Type::f32) return code;
    return (code + 0.5 - static_cast<double>(codes_.offset)) * codes_.scale;
  }

  PlaneRead plane_;
  std::unique_ptr<FixedThresholdOperation> level_;
  double fixed_;
  std::vector<std::uint64_t> counts_;  ///< pixels of each code; empty for a fixed level
  std::vector<std::uint64_t> found_;   ///< pixels of each code in one chunk
  Quantised codes_{};
};

/// Compares each pixel with a level from the statistics around it.
class PreparedLocal final : public PreparedFilter {
 public:
  PreparedLocal(Backend& backend, const BoxStatsJob& job) : stats_(backend.prepare(job)) {
    if (job.rule.method == ThresholdMethod::wolf) extremes_ = backend.allocate(sizeof(PictureExtremes));
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return stats_->workspace_bytes() + extremes_.size;
  }

  // Searches after floats are measured, because wolf's extremes depend on their range.
  [[nodiscard]] bool searches() const noexcept override { return extremes() != nullptr; }
  void begin_search(Stream stream) override {
    if (searches()) stats_->clear_extremes(extremes(), stream);
  }
  void search(std::span<const ImageView> inputs, const Rectangle& inner, Measured* measured,
              Stream stream) override {
    stats_->find_extremes(inputs[0], inner, measured, extremes(), stream);
  }

  void run(std::span<const ImageView> inputs, const MutableImageView& output, Measured* measured,
           Stream stream) override {
    stats_->run({inputs[0], {}, output, measured, extremes()}, stream);
  }

 private:
  [[nodiscard]] PictureExtremes* extremes() const {
    return reinterpret_cast<PictureExtremes*>(extremes_.get());
  }

  std::unique_ptr<BoxStatsOperation> stats_;
  Buffer extremes_;
};

FilterPlan describe(const Device& device, std::span<const Shape> shapes, const Threshold& parameters) {
  const Shape shape = shapes.front();
  check(shape, parameters);
  FilterPlan plan{binary_shape(shape), {range_of(shape)}, Reach{}};
  plan.searches = parameters.method == Binarisation::otsu || parameters.method == Binarisation::wolf;
  if (parameters.method == Binarisation::otsu || parameters.method == Binarisation::fixed) {
    plan.prepare = [&backend = device.backend(), shape, parameters](std::int64_t width, std::int64_t height) {
      return std::make_unique<PreparedFixedThreshold>(backend, resized(shape, width, height), parameters);
    };
    return plan;
  }
  const BoxStatsJob job = stats_job(shape, parameters);
  plan.reach = reach_of(job);
  plan.prepare = prepare_sized<PreparedLocal>(device, job);
  return plan;
}

double reach(const Threshold& threshold, const Shape& shape) {
  if (threshold.method == Binarisation::otsu || threshold.method == Binarisation::wolf)
    return longer_side(shape);
  return threshold.method == Binarisation::fixed ? 0.0 : threshold.window / 2.0;
}

}  // namespace

const FilterRecord& threshold_record() {
  static const FilterRecord filter = record::of(
      &describe,
      {.name = "threshold",
       .category = "masks",
       .help =
           "white where the value is above a threshold, which is the same for all or follows the surroundings",
       .paper = "Sauvola and Pietikainen, Adaptive document image binarization, 2000, and others",
       .parameters =
           {
               record::choice(&Threshold::method,
                              {"otsu", "bradley", "niblack", "sauvola", "wolf", "nick", "fixed"},
                              {"method", "", "how the threshold is found"}),
               record::window(&Threshold::window, largest_window),
               record::usual(-1, 1, record::real(&Threshold::k, -1e6, 1e6,
                            {"k", "",
                             "weight of the method's term (niblack -0.2, sauvola 0.2, bradley 0.15, wolf "
                             "0.5, nick -0.1)"})),
               record::seldom(
                   record::usual(1, 256, record::real(&Threshold::range, 1e-6, 1e30,
                                {"range", "", "R of sauvola; default: 128 or 32768, for floats 0.5"}))),
               record::real(&Threshold::level, -1e30,
                            1e30, {"level", "", "threshold of the method fixed, from 0 (black) to 1 (white)"}),
               record::inner_border(&Threshold::border),
               record::flag(&Threshold::invert,
                            {"invert", "", "white where the value is not above the threshold"}),
           },
       .shape = OutputShape::grey,
       .space = Space::encoded,
       .reach = record::reach<Threshold>(reach)});
  return filter;
}

}  // namespace satin

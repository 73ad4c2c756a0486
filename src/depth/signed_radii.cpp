#include "depth/signed_radii.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <vector>

#include "core/side_inputs.h"
#include "core/windows.h"
#include "depth/fill_radii.h"
#include "satin/error.h"
#include "tables/plane_table.h"

namespace satin {
namespace {

std::string short_number(double value, int digits = 4) {
  std::array<char, 32> text{};
  const auto [end, code] =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, digits);
  return {text.data(), end};
}

std::string range_text(double low, double high) { return short_number(low) + " to " + short_number(high); }

/// Returns a value in the user's terms: values of inverted depth are as stored.
double stated_focus(double value, const DepthRule& rule, const LensFocus& focus) {
  return focus.invert_depth && !focus.depth_range ? rule.offset - value : value;
}

[[noreturn]] void refuse_focus(const LensState& found, const DepthRule& rule, const LensFocus& focus) {
  const double a = stated_focus(found.lowest, rule, focus);
  const double b = stated_focus(found.highest, rule, focus);
  const double given = focus.focus->value;
  std::string text = "focus " + print_real(given) + ": the depth has values from " +
                     range_text(std::min(a, b), std::max(a, b)) + ". ";
  const double scaled = given * (rule.gain < 0 ? -rule.gain : rule.gain);
  if (!focus.depth_scale && !focus.depth_range && scaled >= std::min(a, b) && scaled <= std::max(a, b))
    text += "Stored codes count as 0 to 1: " + print_real(given) + " is " + short_number(scaled) + ".";
  else
    text += "Give one of them, or a place by --focus-at X,Y.";
  throw Error(ErrorKind::input, text);
}

/// Returns the radius of the percentiles of the depth, in 1/256 pixel.
double wanted_radius(const LensState& found) {
  return std::max(found.high - found.near_edge, found.far_edge - found.low) * found.strength;
}

/// Returns the largest strength that keeps the percentiles of the depth within the largest radius, as the
/// option that was given.
std::string fitting_strength(const LensState& found, const DepthRule& rule, const LensFocus& focus) {
  const double share = rule.largest / wanted_radius(found);
  const auto rounded = [](double value) { return short_number(value, 3); };
  if (rule.focal_length != 0) return "--f-number " + rounded(focus.f_number.value_or(usual_f_number) / share);
  if (rule.spanned == 0) return "--strength " + rounded(found.strength / 256 * share);
  return "--strength " + rounded(focus.strength.value_or(usual_strength).value * share) + "%";
}

std::string clamped_warning(const LensState& found, const DepthRule& rule, const LensFocus& focus) {
  const double low = rule.distances ? 1 / found.high : found.low;
  const double high = rule.distances ? 1 / found.low : found.high;
  const double wanted = std::ceil(wanted_radius(found) / 256);
  return "More than half of the picture is blurred by the largest radius, --max-radius " +
         print_real(rule.largest / 256) + ": the depth has values from " + range_text(low, high) + ". " +
         fitting_strength(found, rule, focus) + " fits" +
         (wanted > largest_lens_radius ? "." : ", or --max-radius " + print_real(wanted) + ".");
}

/// Returns the largest radius of the known depth values, in pixels.
double largest_found_radius(const LensState& found, const DepthRule& rule) {
  double largest = 0;
  for (const double value : {found.lowest, found.highest}) {
    const double inverse = rule.distances ? 1 / value : value;
    const double beyond = std::max({inverse - found.near_edge, found.far_edge - inverse, 0.0});
    largest = std::max(largest, std::min(beyond * found.strength, rule.largest));
  }
  return largest / 256;
}

/// Adds surprises to the warnings. Throws Error(input) if no focus or no depth was found, or if the focus is
/// outside the depth.
void report_findings(const LensState& found, const DepthRule& rule, const LensFocus& focus,
                     std::vector<std::string>& warnings) {
  const auto refuse_input = [](const char* what) { throw Error(ErrorKind::input, what); };
  if ((found.problems & nothing_known) != 0)
    refuse_input("The depth image holds no known value at all: check --unknown, --depth-kind and the file.");
  if ((found.problems & focus_on_unknown) != 0)
    refuse_input(
        "The depth around the place of focus is unknown: choose another --focus-at, or give --focus V.");
  if ((found.problems & focus_too_near) != 0)
    refuse_input(
        "The depth at the place of focus is nearer than the focal length: check --depth-unit and "
        "--depth-scale.");
  if (found.unknown != 0)
    warnings.push_back(std::to_string(found.unknown) +
                       " depth values are unknown: they were filled from those around them.");
  const bool mostly = (found.problems & mostly_clamped) != 0;
  // Depth of a single value has no range: any other focus blurs the whole picture evenly
  if ((found.problems & focus_outside) != 0 && (found.lowest < found.highest || mostly))
    refuse_focus(found, rule, focus);
  if (mostly) warnings.push_back(clamped_warning(found, rule, focus));
}

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::usage, what); }

/// Steps from this radius on are visible, in 1/256 pixel.
constexpr double seen_step = 16;

/// Whether radii follow 8-bit codes in visible steps, or in steps whose size is known only later.
bool has_steps(const CircleOfConfusionJob& job) {
  if (job.type != Type::u8) return false;
  const DepthRule& rule = job.rule;
  if (rule.spanned != 0 || rule.distances ||
      (rule.focal_length != 0 && rule.focus_from != FocusSource::value))
    return true;
  LensState state;
  set_focus(state, rule.focus, rule);
  return std::abs(rule.gain * state.strength) >= seen_step;
}

Shape depth_shape(const LensFocus& focus, const Shape& picture, const Shape& depth) {
  if (focus.depth_from == DepthSource::alpha) {
    if (depth.width != 0)
      refuse("Depth comes from the picture's alpha channel: give no depth image as well.");
    return picture;
  }
  if (depth.width == 0)
    refuse("There is no depth: give --depth FILE, or --depth-from photo, alpha or channel.");
  if (depth.type != Type::u8 && depth.type != Type::u16 && depth.type != Type::f32)
    refuse(std::string("The depth image is of type ") + name_of(depth.type) +
           ": u8, u16 and f32 are possible.");
  check_side_size(depth, picture, "depth image", true);
  return depth;
}

}  // namespace

/// Fills the unknown radii of a plane in place.
class FillRadii {
 public:
  FillRadii(Backend& backend, std::int64_t width, std::int64_t height, SignedRadius256 largest)
      : largest_(largest),
        count_(backend.prepare(CountUnknownJob{width, height})),
        split_(backend.prepare(SplitRadiiJob{width, height, largest})),
        fill_(backend.prepare(FillUnknownJob{width, height})),
        counts_(backend, width, height, Type::u8, 1, Accumulator::u32),
        sums_(backend, width, height, Type::u32, 2 * static_cast<std::uint64_t>(largest), Accumulator::u64) {}

  [[nodiscard]] std::size_t workspace_bytes() const noexcept {
    return counts_.workspace_bytes() + sums_.workspace_bytes();
  }

  /// `radii`: one channel, i32.
  void run(const MutableImageView& radii, LensState* state, Stream stream) {
    if (count_ != nullptr) {
      std::uint32_t unknown = 0;
      count_->run({radii, &unknown}, stream);
      if (unknown == 0) return;
    }
    split_->run({radii, counts_.plane(), sums_.plane()}, stream);
    counts_.run(stream);
    sums_.run(stream);
    fill_->run({{largest_, counts_.table<std::uint32_t>(), sums_.table<std::uint64_t>()}, state, radii},
               stream);
  }

 private:
  SignedRadius256 largest_;
  std::unique_ptr<CountUnknownJob::Operation> count_;  ///< null: the host cannot read radii
  std::unique_ptr<SplitRadiiJob::Operation> split_;
  std::unique_ptr<FillUnknownJob::Operation> fill_;
  PlaneTable counts_;
  PlaneTable sums_;
};

SignedRadii::~SignedRadii() = default;

SignedRadii::SignedRadii(Backend& backend, const Shape& picture, const Shape& depth, const LensFocus& focus)
    : backend_(backend),
      picture_(picture),
      source_(depth_shape(focus, picture, depth)),
      focus_(focus),
      depth_in_alpha_(focus.depth_from == DepthSource::alpha) {
  if (source_.width * source_.height > std::int64_t{UINT32_MAX})
    refuse("A depth image may have 2^32 - 1 pixels at most.");  // counts are u32
  rule_ = depth_rule(focus_, picture_, source_);
  prepare_rule();
  const auto clamped = static_cast<SignedRadius256>(rule_.largest);
  const auto largest = static_cast<SignedRadius256>(std::ceil(rule_.largest));
  if (clamped > 0) clamped_radii_ = backend.prepare(ClampedRadiiJob{source_.width, source_.height, clamped});
  if (source_.type == Type::f32 || rule_.has_unknown || rule_.distances)
    fill_radii_ = std::make_unique<FillRadii>(backend, source_.width, source_.height, largest);
  if (focus.depth_despeckle > 0) prepare_despeckling();
  const EnlargeSizes sizes{picture.width, picture.height, source_.width, source_.height};
  const int colours = picture.channels >= 3 ? 3 : 1;
  if (source_.width != picture.width || source_.height != picture.height) {
    samples_ = plane_of_samples(samples_buffer_);
    colours_ =
        backend.allocate(static_cast<std::size_t>(source_.width * source_.height) * sizeof(GuideColour));
    enlarge_radii_ = backend.prepare(EnlargeRadiiJob{sizes, picture.type, picture.channels, colours});
  }
  if (rule_.soft != SoftDepth::off) {
    if (enlarge_radii_ != nullptr) spare_ = plane_of_samples(spare_buffer_);
    scores_ = backend.allocate(static_cast<std::size_t>(source_.width * source_.height) *
                               (sizeof(SideScores) + sizeof(ChosenSide)));
    snap_depth_ = backend.prepare(SnapDepthJob{sizes, picture.type, picture.channels, colours});
  }
  statistics_ = backend.allocate(sizeof(DepthStatistics));
  state_ = backend.allocate(sizeof(LensState));
  forget({});
}

void SignedRadii::vary(const LensFocus& focus, bool same_depth) {
  rule_ = depth_rule(focus, picture_, source_);  // before any change: it may throw
  focus_ = focus;
  keeps_depth_ = same_depth && analysed_ && !depth_in_alpha_;  // the flag says nothing about the picture
  prepare_rule();
}

/// Prepares the steps that depend on focus and strength.
void SignedRadii::prepare_rule() {
  CircleOfConfusionJob job;
  job.width = source_.width;
  job.height = source_.height;
  job.type = source_.type;
  job.channels = source_.channels;
  job.channel = depth_channel(focus_, source_);
  job.rule = rule_;
  depth_statistics_ = backend_.prepare(
      DepthStatisticsJob{job.width, job.height, job.type, job.channels, job.channel, job.rule, keeps_depth_});
  smooths_ = has_steps(job);
  if (smooths_) prepare_smoothing(job);
  circle_of_confusion_ = backend_.prepare(job);
  soft_depth_ = backend_.prepare(SoftDepthJob{job});
}

MutableImageView SignedRadii::plane_of_samples(Buffer& buffer) const {
  const Shape samples{source_.width, source_.height, 1, Type::i32};
  buffer = backend_.allocate(byte_size(samples));
  return {buffer.get(), samples, interleaved_strides(samples), backend_.memory()};
}

void SignedRadii::prepare_despeckling() {
  RankJob median;
  median.width = source_.width;
  median.height = source_.height;
  median.channels = source_.channels;
  median.type = source_.type;
  median.reach.x = median.reach.y = focus_.depth_despeckle;
  despeckle_ = backend_.prepare(median);
  despeckled_ = backend_.allocate(resized(source_, source_.width, source_.height));
}

void SignedRadii::prepare_smoothing(CircleOfConfusionJob& job) {
  const bool has_zero = job.rule.offset == 0 || job.rule.offset + 0xFF * job.rule.gain == 0;
  if (job.rule.distances && !job.rule.has_unknown && has_zero) {
    // Distance 0 is unknown, and its code must not be averaged with its neighbours
    job.rule.has_unknown = true;
    job.rule.unknown = job.rule.gain < 0 ? 0xFF : 0;
  }
  const double unknown = job.rule.unknown;
  SmoothStepsJob steps{job.width, job.height, job.channels, job.channel};
  if (job.rule.has_unknown && unknown >= 0 && unknown <= 0xFF && unknown == std::floor(unknown))
    steps.unknown = static_cast<int>(unknown);
  if (smooth_steps_ == nullptr) {
    smooth_steps_ = backend_.prepare(steps);
    smoothed_ = backend_.allocate(Shape{job.width, job.height, 1, Type::u16});
  }
  job.type = Type::u16;
  job.channels = 1;
  job.channel = 0;
  job.rule.gain /= 1 << step_fraction;
  job.rule.unknown = unknown_code;
}

std::size_t SignedRadii::workspace_bytes() const noexcept {
  std::size_t bytes = state_.size + statistics_.size + samples_buffer_.size + spare_buffer_.size +
                      colours_.size + scores_.size + byte_size(despeckled_.shape()) +
                      byte_size(smoothed_.shape());
  for (const Operation* operation : std::initializer_list<const Operation*>{
           despeckle_.get(), smooth_steps_.get(), circle_of_confusion_.get(), enlarge_radii_.get()})
    if (operation != nullptr) bytes += operation->workspace_bytes();
  if (fill_radii_ != nullptr) bytes += fill_radii_->workspace_bytes();
  return bytes;
}

/// Finds the range of the depth and returns the depth that radii are made from.
ImageView SignedRadii::analyse(const ImageView& depth, Stream stream) {
  ImageView values = depth;
  if (!keeps_depth_) analysed_ = has_smoothed_ = false;  // until this run has found them
  if (despeckle_ != nullptr) {
    if (!keeps_depth_) despeckle_->run({values, {}, {}, despeckled_.view()}, stream);
    values = despeckled_;
  }
  depth_statistics_->run({values, reinterpret_cast<DepthStatistics*>(statistics_.get()),
                          reinterpret_cast<LensState*>(state_.get())},
                         stream);
  analysed_ = true;
  if (!smooths_) return values;
  if (!has_smoothed_) smooth_steps_->run(values, smoothed_.view(), stream);
  has_smoothed_ = true;
  return smoothed_;
}

void SignedRadii::run(const ImageView& picture, const ImageView& depth, const MutableImageView& radii,
                      const MutableImageView& spare, Stream stream) {
  auto* state = reinterpret_cast<LensState*>(state_.get());
  auto* statistics = reinterpret_cast<DepthStatistics*>(statistics_.get());
  const ImageView values = analyse(depth_in_alpha_ ? picture : depth, stream);
  const MutableImageView samples = enlarge_radii_ != nullptr ? samples_ : radii;
  circle_of_confusion_->run({values, state, samples}, stream);
  soft_depth_->run({values, statistics, state, samples}, stream);
  if (clamped_radii_ != nullptr) clamped_radii_->run({samples, statistics, state}, stream);
  if (fill_radii_ != nullptr) fill_radii_->run(samples, state, stream);
  auto* colours = reinterpret_cast<GuideColour*>(colours_.get());
  // The host skips snapping if it can read that depth is not soft; otherwise the steps look for themselves
  if (snap_depth_ != nullptr && (!backend_.host_memory || statistics->soft != 0)) {
    auto* scores = reinterpret_cast<SideScores*>(scores_.get());
    auto* sides = reinterpret_cast<ChosenSide*>(scores + source_.width * source_.height);
    snap_depth_->run(
        {picture, statistics, colours, scores, sides, samples, enlarge_radii_ != nullptr ? spare_ : spare},
        stream);
  }
  if (enlarge_radii_ != nullptr) enlarge_radii_->run({picture, samples, colours, radii}, stream);
}

void SignedRadii::forget(Stream stream) {
  const LensState cleared;
  backend_.upload(state_.get(), &cleared, sizeof cleared, stream);
}

void SignedRadii::check(std::vector<std::string>& warnings, Stream stream) {
  LensState found;
  backend_.download(&found, state_.get(), sizeof found, stream);
  forget(stream);
  DepthStatistics statistics;
  backend_.download(&statistics, statistics_.get(), sizeof statistics, stream);
  const double soft =
      statistics.silhouettes == 0 ? 0 : static_cast<double>(statistics.ramps) / statistics.silhouettes;
  const bool widened = statistics.soft != 0 && !rule_.sharp_range_given;
  const double nearest = rule_.distances ? 1 / found.near_edge : found.near_edge;
  found_ = {{"strength", found.strength / 256},
            {"focus", stated_focus(found.focus, rule_, focus_)},
            {"sharp_range", widened ? std::abs(nearest - found.focus) : rule_.sharp_range},
            {"largest_radius", largest_found_radius(found, rule_)},
            {"soft", soft},
            {"is_soft", static_cast<double>(statistics.soft)}};
  report_findings(found, rule_, focus_, warnings);
}

}  // namespace satin

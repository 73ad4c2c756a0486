// The parts of prepared_filter.h that all filters share: the measures of floats before a run and their check
// after it, and masked work by windows around the active tiles of the mask.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/plan_operations.h"
#include "core/prepared_filter.h"
#include "core/window_cover.h"
#include "satin/error.h"
#include "satin/param.h"

namespace satin {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::input, what); }

}  // namespace

void PreparedFilter::prepare_measures(Backend& backend, const FilterPlan& plan, std::int64_t width,
                                      std::int64_t height) {
  measures_ = plan.measures;
  if (measures_.count() == 0) return;
  MeasureJob job = resized(measures_.picture.value_or(MeasureJob{}), width, height);
  job.channels = plan.inputs.front().channels;
  range_ = backend.prepare(job);
  if (measures_.guide == 0) return;
  const Shape& guide = plan.inputs[measures_.guide];
  guide_range_ = backend.prepare(MeasureJob{width, height, guide.channels, guide.alpha == Alpha::straight});
}

void PreparedFilter::begin(Measured* measured, Stream stream) {
  if (range_ != nullptr) range_->clear(measured, stream);
  if (guide_range_ != nullptr) guide_range_->clear(measured + 1, stream);
  begin_search(stream);
}

void PreparedFilter::measure(int step, std::span<const ImageView> inputs, const Rectangle& inner,
                             Measured* measured, Stream stream) {
  if (step != 0 || !measures_.pass()) return search(inputs, inner, measured, stream);
  if (measures_.picture) range_->measure(counted(inputs, stream), measured, stream);
  if (measures_.map != 0) range_->check_map(inputs[measures_.map], measured, stream);
  if (guide_range_ != nullptr) guide_range_->measure(inputs[measures_.guide], measured + 1, stream);
}

std::unique_ptr<PreparedFilter> prepare(Backend& backend, const FilterPlan& filter, std::int64_t width,
                                        std::int64_t height) {
  std::unique_ptr<PreparedFilter> prepared = filter.prepare(width, height);
  prepared->prepare_measures(backend, filter, width, height);
  return prepared;
}

Buffer allocate_measured(Backend& backend, const FilterPlan& filter) {
  const std::size_t count = filter.measures.count() * static_cast<std::size_t>(filter.output.frames);
  return count == 0 ? Buffer() : backend.allocate(count * sizeof(Measured));
}

void check_measured(Backend& backend, const FilterPlan& filter, const Buffer& measured,
                    std::vector<std::string>& warnings, Stream stream) {
  std::vector<Measured> found(measured.size / sizeof(Measured));
  if (found.empty()) return;
  backend.download(found.data(), measured.get(), measured.size, stream);
  bool vanished = false;
  for (std::size_t i = 0; i < found.size(); i += filter.measures.count()) {
    const Measured& frame = found[i];
    if (frame.picture_not_finite != 0)
      refuse("The picture holds NaN or infinite values: replace them before filtering.");
    if (frame.map_out_of_range != 0)
      refuse("The radius map holds values outside 0..1, or NaN: scale it to 0..1 first.");
    if (frame.guide_not_finite != 0)
      refuse("The guide holds NaN or infinite values: replace them before filtering.");
    const double largest = double_of(frame.largest[0]);
    if (filter.growth > 1 && filter.growth * largest > std::numeric_limits<float>::max())
      refuse("The picture holds values of up to " + print_real(largest) +
             ": results could be larger than floats are. Divide it first.");
    for (int group = 0; group < 2; ++group)
      vanished = vanished || (frame.largest[group] != 0 &&
                              (frame.largest[group] >> 52) > (frame.smallest[group] >> 52) + 40);
  }
  if (vanished) warnings.emplace_back("Values below 2^-40 of the largest one count as 0.");
}

namespace {

/// A filter under a mask. Runs on windows around active tiles and copies the rest, or runs on the whole
/// picture where that takes less time (WindowCover).
class PreparedMasked final : public PreparedFilter {
 public:
  PreparedMasked(Backend& backend, const FilterPlan& filter)
      : mask_(filter.mask),
        cover_({filter.output.width, filter.output.height}, *filter.reach, backend.*filter.costs),
        copy_(backend.prepare(CopyJob{})) {
    const Shape& mask = filter.inputs[mask_];
    active_tiles_ = backend.prepare(ActiveTilesJob{mask.width, mask.height, mask.type, cover_.tile()});
    active_.resize(static_cast<std::size_t>(cover_.columns() * cover_.rows()));
    for (const WindowCover::Size& size : cover_.sizes())
      filters_.push_back(filter.prepare(size.width, size.height));
    prepare_measures(backend, filter, filter.output.width, filter.output.height);
    if (filters_.size() == 1) return;
    const WindowCover::Size& largest = cover_.sizes()[filters_.size() - 2];
    result_ = backend.allocate(resized(filter.output, largest.width, largest.height));
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    std::size_t bytes = active_tiles_->workspace_bytes() + (result_.empty() ? 0 : byte_size(result_.shape()));
    for (const auto& filter : filters_) bytes += filter->workspace_bytes();
    return bytes;
  }

  ImageView counted(std::span<const ImageView> inputs, Stream stream) override {
    return filters_.back()->counted(inputs, stream);
  }

  void run(std::span<const ImageView> inputs, const MutableImageView& output, Measured* measured,
           Stream stream) override {
    active_tiles_->run(inputs[mask_], active_.data(), stream);
    const std::span<const WindowCover::Run> runs = cover_.of(active_);
    if (!runs.empty() && cover_.is_whole(runs.front()))
      return filters_.back()->run(inputs, output, measured, stream);
    copy_->run(inputs.front(), output, stream);
    for (const WindowCover::Run& run : runs) run_window(run, inputs, output, measured, stream);
  }

 private:
  void run_window(const WindowCover::Run& run, std::span<const ImageView> inputs,
                  const MutableImageView& output, Measured* measured, Stream stream) {
    const Rectangle window = cover_.window_of(run);
    windows_.clear();
    for (const ImageView& input : inputs) windows_.push_back(part_of(input, window));
    const MutableImageView result = part_of(result_.view(), {{0, window.x.size()}, {0, window.y.size()}});
    filters_[run.size]->run(windows_, result, measured, stream);
    copy_->run(part_of(result, seen_from(window, run.inner)), part_of(output, run.inner), stream);
  }

  std::size_t mask_;
  WindowCover cover_;
  std::unique_ptr<CopyOperation> copy_;
  std::unique_ptr<ActiveTilesOperation> active_tiles_;
  std::vector<std::unique_ptr<PreparedFilter>> filters_;  ///< one for each window size
  std::vector<std::uint8_t> active_;
  std::vector<ImageView> windows_;  ///< window of each input
  Image result_;                    ///< room for the largest window
};

}  // namespace

std::unique_ptr<PreparedFilter> prepare_whole(Backend& backend, const FilterPlan& filter) {
  const Shape& picture = filter.inputs.front();
  const bool skips = filter.mask != 0 && filter.inputs[filter.mask].width != 0 && filter.reach &&
                     picture.width * picture.height >= (backend.*filter.costs).least_pixels;
  if (!skips) return prepare(backend, filter, picture.width, picture.height);
  return std::make_unique<PreparedMasked>(backend, filter);
}

}  // namespace satin

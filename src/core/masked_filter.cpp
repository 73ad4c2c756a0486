// Masked work by windows around the active tiles of the mask.

#include <vector>

#include "core/active_tiles.h"
#include "core/copy.h"
#include "core/prepared_filter.h"
#include "core/window_cover.h"

namespace satin {
namespace {

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
    parts_.clear();
    for (const ImageView& input : inputs) parts_.push_back(part_of(input, window));
    const MutableImageView result = part_of(result_.view(), {{0, window.x.size()}, {0, window.y.size()}});
    filters_[run.size]->run(parts_, result, measured, stream);
    copy_->run(part_of(result, seen_from(window, run.inner)), part_of(output, run.inner), stream);
  }

  std::size_t mask_;
  WindowCover cover_;
  std::unique_ptr<CopyOperation> copy_;
  std::unique_ptr<ActiveTilesOperation> active_tiles_;
  std::vector<std::unique_ptr<PreparedFilter>> filters_;  ///< one a size of windows
  std::vector<std::uint8_t> active_;
  std::vector<ImageView> parts_;  ///< of the inputs of one run
  Image result_;                  ///< of the largest window
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

#include <limits>

#include "core/prepared_filter.h"
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

}  // namespace satin

// Statistics and tones of pictures. What each function does is said in satin/_statistics.py.

#include "satin/statistics.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <utility>

#include "python/layout.h"
#include "python/module.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace satin::python {
namespace {

/// A host picture as statistics take them: interleaved, copied only where it is not.
class HostPicture {
 public:
  explicit HostPicture(const Picture& picture) : view_(host_view(picture)) {
    if (view_.interleaved()) return;
    copy_ = copy_of(view_);
    view_ = copy_.view();
  }
  [[nodiscard]] const ImageView& view() const { return view_; }

 private:
  ImageView view_;
  Image copy_;
};

nb::dict describe(const ChannelStatistics& channel) {
  nb::dict result;
  result["count"] = channel.count;
  result["nan"] = channel.nan;
  result["infinite"] = channel.infinite;
  result["minimum"] = channel.minimum;
  result["maximum"] = channel.maximum;
  result["mean"] = channel.mean;
  result["deviation"] = channel.deviation;
  result["percentiles"] = channel.percentiles;
  result["lower"] = channel.lower;
  result["upper"] = channel.upper;
  result["histogram"] = channel.histogram;
  return result;
}

nb::list statistics_of(const Device& device, const Picture& image, const Picture* mask,
                       const StatisticsOptions& options) {
  const std::vector<ChannelStatistics> channels = released([&] {
    const HostPicture picture(image);
    const std::optional<HostPicture> chosen =
        mask == nullptr ? std::nullopt : std::optional<HostPicture>(*mask);
    return statistics(device, picture.view(), chosen ? chosen->view() : ImageView{}, options);
  });
  nb::list result;
  for (const ChannelStatistics& channel : channels) result.append(describe(channel));
  return result;
}

nb::tuple zones_of(const Device& device, const Picture& image, const Bins& bins) {
  ToneZones zones = released([&] { return tone_zones(device, HostPicture(image).view(), bins); });
  return nb::make_tuple(array_of(std::move(zones.zones), 0), zones.counts,
                        array_of(std::move(zones.pixels), 0), array_of(std::move(zones.positions), 0));
}

}  // namespace

void bind_statistics(nb::module_& module) {
  module.def(
      "statistics",
      [](const Device& device, const Picture& image, const Picture* mask, std::vector<double> percents,
         std::int64_t bins, std::optional<double> lower, std::optional<double> upper) {
        return statistics_of(device, image, mask, {std::move(percents), bins, lower, upper});
      },
      "device"_a, "image"_a, "mask"_a.none(), "percents"_a, "bins"_a, "lower"_a.none(), "upper"_a.none());
  module.def("tone_zones", &zones_of, "device"_a, "image"_a, "bins"_a);
  module.def(
      "luminance",
      [](const Picture& image) {
        return array_of(released([&] { return luminance(HostPicture(image).view()); }), 0);
      },
      "image"_a);
}

}  // namespace satin::python

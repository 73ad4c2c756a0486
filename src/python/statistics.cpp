// Statistics and tones of pictures. What each function does is said in satin/statistics.py.

#include "satin/statistics.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <utility>

#include "python/layout.h"
#include "python/module.h"
#include "satin/error.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace satin::python {
namespace {

/// A host picture as statistics take them: interleaved, copied only where it is not.
class HostPicture {
 public:
  explicit HostPicture(const Picture& picture) : view_(picture.view) {
    if (picture.array.memory != Memory::host)
      throw Error(ErrorKind::usage, picture.name + " lies in device memory: copy it to the CPU first.");
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
  std::vector<ChannelStatistics> channels;
  {
    const nb::gil_scoped_release released;
    const HostPicture picture(image);
    const std::optional<HostPicture> chosen =
        mask == nullptr ? std::nullopt : std::optional<HostPicture>(*mask);
    channels = statistics(device, picture.view(), chosen ? chosen->view() : ImageView{}, options);
  }
  nb::list result;
  for (const ChannelStatistics& channel : channels) result.append(describe(channel));
  return result;
}

nb::tuple zones_of(const Device& device, const Picture& image, const Bins& bins) {
  ToneZones zones;
  {
    const nb::gil_scoped_release released;
    zones = tone_zones(device, HostPicture(image).view(), bins);
  }
  nb::list counts;
  for (const std::int64_t count : zones.counts) counts.append(count);
  return nb::make_tuple(array_of(std::move(zones.zones), 0), counts, array_of(std::move(zones.pixels), 0),
                        array_of(std::move(zones.positions), 0));
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
        Image grey;
        {
          const nb::gil_scoped_release released;
          grey = luminance(HostPicture(image).view());
        }
        return array_of(std::move(grey), 0);
      },
      "image"_a);
}

}  // namespace satin::python

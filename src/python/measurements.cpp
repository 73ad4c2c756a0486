// Bindings for measurements of pictures: statistics, tones, regions and run lengths. satin/_measurements.py
// and satin/rle.py document them.

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <utility>

#include "python/foreign_array.h"
#include "python/module.h"
#include "satin/error.h"
#include "satin/regions.h"
#include "satin/rle.h"
#include "satin/statistics.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace satin::python {
namespace {

/// Returns an interleaved host picture; copies only pictures that are not interleaved.
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

/// The regions of one mask and the picture of their labels, which take_labels() moves out.
struct FoundRegions {
  Device device;
  int ordinal = 0;
  Regions found;
};

FoundRegions find(const Device& device, const Picture& mask, int connectivity, bool zeros,
                  const Picture* image, std::uintptr_t stream) {
  require_reachable(device, mask.array.memory, mask.array.ordinal, mask.name);
  RegionsOptions options;
  if (connectivity != 4 && connectivity != 8)
    throw Error(ErrorKind::usage, "connectivity " + std::to_string(connectivity) + ": 4 or 8 is expected.");
  options.connectivity = connectivity == 4 ? Connectivity::four : Connectivity::eight;
  options.zeros = zeros;
  if (image != nullptr) {
    require_reachable(device, image->array.memory, image->array.ordinal, image->name);
    options.image = image->view;
  }
  const nb::gil_scoped_release released;
  if (mask.array.memory == Memory::device) device.synchronize(stream_of(stream));
  return {device, mask.array.ordinal, find_regions(device, mask.view, options)};
}

nb::dict describe(const RegionValues& values) {
  nb::dict result;
  result["mean"] = values.mean;
  result["minimum"] = values.minimum;
  result["maximum"] = values.maximum;
  result["deviation"] = values.deviation;
  return result;
}

nb::list describe(const FoundRegions& regions) {
  nb::list result;
  for (const Region& region : regions.found.regions) {
    nb::list values;
    for (const RegionValues& channel : region.values) values.append(describe(channel));
    result.append(nb::make_tuple(
        region.label, region.area, nb::make_tuple(region.x, region.y, region.width, region.height),
        nb::make_tuple(region.centroid_x, region.centroid_y), region.touches_border, values));
  }
  return result;
}

RunLengths from_counts(std::vector<std::uint32_t> counts, std::int64_t height, std::int64_t width) {
  RunLengths runs{height, width, std::move(counts)};
  validate(runs);
  return runs;
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

void bind_regions(nb::module_& module) {
  nb::class_<FoundRegions>(module, "FoundRegions")
      .def(
          "keep",
          [](FoundRegions& regions, std::int64_t min_area, std::optional<std::int64_t> max_area,
             std::int64_t min_width, std::optional<std::int64_t> max_width, std::int64_t min_height,
             std::optional<std::int64_t> max_height, std::optional<bool> touches_border) {
            RegionFilter filter{.min_area = min_area,
                                .min_width = min_width,
                                .min_height = min_height,
                                .touches_border = touches_border};
            if (max_area) filter.max_area = *max_area;
            if (max_width) filter.max_width = *max_width;
            if (max_height) filter.max_height = *max_height;
            std::erase_if(regions.found.regions,
                          [&](const Region& region) { return !passes(region, filter); });
          },
          "min_area"_a, "max_area"_a.none(), "min_width"_a, "max_width"_a.none(), "min_height"_a,
          "max_height"_a.none(), "touches_border"_a.none())
      .def(
          "sort_by",
          [](FoundRegions& regions, const std::string& key, bool descending, int channel) {
            const auto by = choice<RegionKey>(
                "sort_by", key,
                {"label", "area", "x", "y", "width", "height", "mean", "minimum", "maximum", "deviation"});
            sort_by(regions.found.regions, by, descending, channel);
          },
          "key"_a, "descending"_a, "channel"_a)
      .def("renumber",
           [](FoundRegions& regions) {
             const nb::gil_scoped_release lock;
             renumber(regions.device, regions.found);
             regions.device.synchronize();
           })
      .def("regions", [](const FoundRegions& regions) { return describe(regions); })
      .def("take_labels",
           [](FoundRegions& regions) { return array_of(std::move(regions.found.labels), regions.ordinal); });
  module.def("find_regions", &find, "device"_a, "mask"_a, "connectivity"_a, "zeros"_a, "image"_a.none(),
             "stream"_a);
}

void bind_run_lengths(nb::module_& module) {
  nb::class_<RunLengths>(module, "RunLengths")
      .def_static(
          "encode",
          [](const Picture& mask) { return released([&] { return encode_run_lengths(host_view(mask)); }); },
          "mask"_a)
      .def_static(
          "encode_labels",
          [](const Picture& labels, const std::vector<std::uint32_t>& wanted) {
            return released([&] { return encode_run_lengths(host_view(labels), wanted); });
          },
          "labels"_a, "wanted"_a)
      .def_static("from_counts", &from_counts, "counts"_a, "height"_a, "width"_a)
      .def_static(
          "from_text",
          [](const std::string& text, std::int64_t height, std::int64_t width) {
            return parse_compressed_counts(text, height, width);
          },
          "text"_a, "height"_a, "width"_a)
      .def_static(
          "unite", [](const std::vector<RunLengths>& masks) { return unite(masks); }, "masks"_a)
      .def_prop_ro("size", [](const RunLengths& runs) { return std::pair(runs.height, runs.width); })
      .def_prop_ro("counts", [](const RunLengths& runs) { return runs.counts; })
      .def_prop_ro("text", &compressed_counts)
      .def_prop_ro("area", &area)
      .def_prop_ro("box",
                   [](const RunLengths& runs) {
                     const PixelBox box = bounding_box(runs);
                     return nb::make_tuple(box.x, box.y, box.width, box.height);
                   })
      .def("decode", [](const RunLengths& runs) {
        return array_of(released([&] { return decode_run_lengths(runs); }), 0);
      });
}

}  // namespace satin::python

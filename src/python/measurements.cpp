// Bindings for measurements of pictures: statistics, tones, regions and run lengths. satin/_measurements.py
// and satin/rle.py document them.

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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

nb::list statistics_of(const Device& device, const Picture& image, const Picture* mask,
                       const StatisticsOptions& options) {
  const std::vector<ChannelStatistics> channels = released([&] {
    const HostPicture picture(image);
    const std::optional<HostPicture> chosen =
        mask == nullptr ? std::nullopt : std::optional<HostPicture>(*mask);
    return statistics(device, picture.view(), chosen ? chosen->view() : ImageView{}, options);
  });
  nb::list result;
  for (const ChannelStatistics& each : channels)
    result.append(nb::make_tuple(each.count, each.nan, each.infinite, each.minimum, each.maximum, each.mean,
                                 each.deviation, each.percentiles, each.lower, each.upper, each.histogram));
  return result;
}

nb::tuple zones_of(const Device& device, const Picture& image, const Bins& bins) {
  ToneZones zones = released([&] { return tone_zones(device, HostPicture(image).view(), bins); });
  return nb::make_tuple(array_of(std::move(zones.zones), 0), zones.counts,
                        array_of(std::move(zones.pixels), 0), array_of(std::move(zones.positions), 0));
}

/// Returns the regions of a mask in their order, and the picture of their labels. `bounds` are the limits of
/// RegionFilter in its order.
nb::tuple find(const Device& device, const Picture& mask, const Picture* image, int connectivity, bool zeros,
               const std::vector<std::optional<std::int64_t>>& bounds, std::optional<bool> touches_border,
               const std::string& key, bool descending, int channel, std::uintptr_t stream) {
  require_reachable(device, mask.array.memory, mask.array.ordinal, mask.name);
  if (connectivity != 4 && connectivity != 8)
    throw Error(ErrorKind::usage, "connectivity " + std::to_string(connectivity) + ": 4 or 8 is expected.");
  RegionsOptions options{connectivity == 4 ? Connectivity::four : Connectivity::eight, zeros};
  if (image != nullptr) {
    require_reachable(device, image->array.memory, image->array.ordinal, image->name);
    options.image = image->view;
  }
  RegionFilter filter{.touches_border = touches_border};
  std::int64_t* const limits[] = {&filter.min_area,  &filter.max_area,   &filter.min_width,
                                  &filter.max_width, &filter.min_height, &filter.max_height};
  for (std::size_t i = 0; i < std::size(limits); ++i) *limits[i] = bounds.at(i).value_or(*limits[i]);
  const auto order = choice<RegionKey>(
      "sort_by", key,
      {"label", "area", "x", "y", "width", "height", "mean", "minimum", "maximum", "deviation"});
  Regions found = released([&] {
    if (mask.array.memory == Memory::device) device.synchronize(stream_of(stream));
    Regions all = find_regions(device, mask.view, options);
    std::erase_if(all.regions, [&](const Region& region) { return !passes(region, filter); });
    sort_by(all.regions, order, descending, channel);
    renumber(device, all);
    device.synchronize();
    return all;
  });
  nb::list regions;
  for (const Region& region : found.regions) {
    nb::list values;
    for (const RegionValues& each : region.values)
      values.append(nb::make_tuple(each.mean, each.minimum, each.maximum, each.deviation));
    regions.append(nb::make_tuple(
        region.label, region.area, nb::make_tuple(region.x, region.y, region.width, region.height),
        nb::make_tuple(region.centroid_x, region.centroid_y), region.touches_border, values));
  }
  return nb::make_tuple(regions, array_of(std::move(found.labels), mask.array.ordinal));
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
  module.def("find_regions", &find, "device"_a, "mask"_a, "image"_a.none(), "connectivity"_a, "zeros"_a,
             "bounds"_a, "touches_border"_a.none(), "sort_by"_a, "descending"_a, "channel"_a, "stream"_a);
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

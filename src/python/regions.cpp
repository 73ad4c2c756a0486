// Regions of masks. What each function does is said in satin/_regions.py.

#include "satin/regions.h"

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

/// The regions of one mask and the picture of their labels, which stays here until it is taken.
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

}  // namespace

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

}  // namespace satin::python

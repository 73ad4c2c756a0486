// The filter regions: connected areas of a mask as JSON, with size, position, values and run lengths.
//
// The picture becomes a mask by a fixed threshold, find_regions() labels and measures it on the device, and
// this file selects, sorts and writes the regions.

#include "satin/regions.h"

#include <array>
#include <string>
#include <vector>

#include "core/record.h"
#include "satin/error.h"
#include "satin/filters/threshold.h"
#include "satin/rle.h"

namespace satin {
namespace {

constexpr long most = 1L << 53;

/// Two views, and the copies that they may refer to.
struct Pictures {
  ImageView picture, image{};
  std::vector<Image> copies{};
};

Image uploaded(const Device& device, const ImageView& view) {
  if (view.empty()) return {};
  return device.upload(view.strides == interleaved_strides(view.shape) ? view : copy_of(view).view());
}

/// Moves pictures in host memory to the device once for all steps of a search. If they do not fit, they stay
/// on the host and each step fetches the chunks that it needs.
Pictures on_device(const Device& device, const ImageView& picture, const ImageView& image) {
  Pictures given{picture, image};
  if (!device.is_cuda() || picture.memory != Memory::host) return given;
  try {
    Pictures moved;
    for (const ImageView& view : {picture, image}) moved.copies.push_back(uploaded(device, view));
    moved.picture = moved.copies[0].view();
    if (!image.empty()) moved.image = moved.copies[1].view();
    return moved;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::environment) throw;
    return given;
  }
}

/// The names are in the order of RegionKey.
const std::vector<std::string> key_names = {"label",  "area", "x",   "y",   "width",
                                            "height", "mean", "min", "max", "deviation"};

void check_bounds(const char* name, std::int64_t low, std::int64_t high) {
  if (low > high)
    throw Error(ErrorKind::usage, std::string("--min-") + name + " " + std::to_string(low) +
                                      " is above --max-" + name + " " + std::to_string(high) +
                                      ": no region can meet both.");
}

/// Keeps the regions that pass the filter and come first by the key, renumbered from 1 in raster order.
void choose(const Device& device, Regions& regions, const RegionSearch& search) {
  RegionFilter filter = search.filter;
  if (search.inner) filter.touches_border = false;
  std::vector<Region>& list = regions.regions;
  std::erase_if(list, [&](const Region& region) { return !passes(region, filter); });
  if (list.size() > static_cast<std::size_t>(search.limit)) {
    sort_by(list, search.key, search.descending);
    list.resize(static_cast<std::size_t>(search.limit));
    sort_by(list, RegionKey::label);
  }
  renumber(device, regions);
  sort_by(list, search.key, search.descending);
}

void add_value(JsonWriter& json, const char* key, const Region& region, double RegionValues::*member) {
  json.key(key);
  if (region.values.size() == 1)
    json.real(region.values.front().*member);
  else
    json.array(region.values, [&](const RegionValues& values) { json.real(values.*member); });
}

void add_run_lengths(JsonWriter& json, const RunLengths& runs, RunLengthText text) {
  json.key("rle").begin_object();
  json.key("size").integers(std::array{runs.height, runs.width}).key("counts");
  if (text == RunLengthText::compressed)
    json.string(compressed_counts(runs));
  else
    json.integers(runs.counts);
  json.end_object();
}

void add_region(JsonWriter& json, const Region& region, const RunLengths* runs, RunLengthText text) {
  json.begin_object();
  json.key("label").integer(region.label).key("area").integer(region.area);
  json.key("bbox").integers(std::array{region.x, region.y, region.width, region.height});
  json.key("centroid").reals(std::array{region.centroid_x, region.centroid_y});
  json.key("touches_border").boolean(region.touches_border);
  if (!region.values.empty()) {
    add_value(json, "mean", region, &RegionValues::mean);
    add_value(json, "min", region, &RegionValues::minimum);
    add_value(json, "max", region, &RegionValues::maximum);
    add_value(json, "deviation", region, &RegionValues::deviation);
  }
  if (runs != nullptr) add_run_lengths(json, *runs, text);
  json.end_object();
}

void describe(JsonWriter& json, const Device& device, std::span<const NamedView> pictures,
              const RegionSearch& search) {
  add_regions(json, pictures, search, search_regions(device, pictures[0].view, pictures[1].view, search));
}

ParameterRecord bound(std::int64_t RegionFilter::*member, const char* name, const char* unit,
                      const char* help) {
  return record::within(
      &RegionSearch::filter,
      record::usual_decades(0, 10000, record::integer(member, 0, most, {name, unit, help})));
}

}  // namespace

void validate(const RegionSearch& search, bool with_image) {
  check_bounds("area", search.filter.min_area, search.filter.max_area);
  check_bounds("width", search.filter.min_width, search.filter.max_width);
  check_bounds("height", search.filter.min_height, search.filter.max_height);
  if (search.key >= RegionKey::mean && !with_image)
    throw Error(ErrorKind::usage, "--sort " + key_names[static_cast<std::size_t>(search.key)] +
                                      " needs values: name a picture with --image.");
}

Regions search_regions(const Device& device, const ImageView& picture, const ImageView& image,
                       const RegionSearch& search) {
  validate(search, !image.empty());
  Threshold level;
  level.method = Binarisation::fixed;
  level.level = search.level;
  level.invert = search.invert;
  const Pictures pictures = on_device(device, picture, image);
  RegionsOptions options;
  options.connectivity = search.connectivity;
  options.image = pictures.image;
  Regions regions = find_regions(device, threshold(device, pictures.picture, level), options);
  choose(device, regions, search);
  if (regions.labels.memory() != picture.memory) regions.labels = device.download(regions.labels);
  return regions;
}

void add_regions(JsonWriter& json, std::span<const NamedView> pictures, const RegionSearch& search,
                 const Regions& regions) {
  json.key("image").begin_object();
  if (!pictures[0].name.empty()) json.key("input").string(pictures[0].name);
  json.shape(pictures[0].view.shape);
  json.key("level").real(search.level).key("inverted").boolean(search.invert);
  json.key("connectivity").integer(search.connectivity == Connectivity::four ? 4 : 8);
  if (!pictures[1].name.empty()) json.key("values_of").string(pictures[1].name);
  json.key("found").integer(regions.found).end_object();
  std::vector<RunLengths> runs;
  if (search.rle != RunLengthText::none) {
    std::vector<std::uint32_t> labels;
    for (const Region& region : regions.regions) labels.push_back(region.label);
    runs = encode_run_lengths(regions.labels, labels);
  }
  json.key("regions").begin_array();
  for (std::size_t i = 0; i < regions.regions.size(); ++i)
    add_region(json, regions.regions[i], runs.empty() ? nullptr : &runs[i], search.rle);
  json.end_array();
}

const FilterRecord& regions_record() {
  static const FilterRecord filter = record::of(
      &describe,
      {.name = "regions",
       .category = "measurement",
       .help = "measure connected areas of a mask: position, size, values and run lengths, as JSON",
       .paper = "Rosenfeld and Pfaltz, Sequential operations in digital picture processing, 1966; He, Chao, "
                "Suzuki, A run-based two-scan labeling algorithm, 2008",
       .parameters =
           {record::choice(
                &RegionSearch::connectivity, {"4", "8"},
                {"connectivity", "", "neighbours of a pixel: 4 share a side with it, 8 a side or a corner"}),
            record::real(&RegionSearch::level, -1e30, 1e30,
                         {"level", "", "pixels above this share of white are inside"}),
            record::flag(&RegionSearch::invert,
                         {"invert", "", "pixels that are not above the level are inside"}),
            bound(&RegionFilter::min_area, "min-area", "pixels", "smallest area to keep"),
            bound(&RegionFilter::max_area, "max-area", "pixels", "largest area to keep"),
            bound(&RegionFilter::min_width, "min-width", "px", "smallest width to keep"),
            bound(&RegionFilter::max_width, "max-width", "px", "largest width to keep"),
            bound(&RegionFilter::min_height, "min-height", "px", "smallest height to keep"),
            bound(&RegionFilter::max_height, "max-height", "px", "largest height to keep"),
            record::flag(&RegionSearch::inner,
                         {"no-border", "", "drop regions that touch the border of the picture"}),
            record::choice(
                &RegionSearch::key, key_names,
                {"sort", "",
                 "order of the list; mean, min, max and deviation are those of the first channel"}),
            record::flag(&RegionSearch::descending, {"descending", "", "begin with the largest"}),
            record::usual_decades(1, 1000,
                                  record::integer(&RegionSearch::limit, 1,
                                                  most, {"limit", "", "keep the first N in this order"})),
            record::choice(&RegionSearch::rle, {"compressed", "uncompressed", "none"},
                           {"rle", "", "format of the run lengths, as in COCO"})},
       .inputs = {{"image", Role::guide,
                   "picture whose mean, extremes and deviation are measured in every region"}},
       .space = Space::encoded});
  return filter;
}

}  // namespace satin

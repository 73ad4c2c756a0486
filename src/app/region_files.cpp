#include "app/region_files.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "satin/error.h"
#include "satin/io.h"

namespace satin::app {
namespace {

void add_list(JsonWriter& json, const char* key, std::initializer_list<std::int64_t> numbers) {
  json.key(key).begin_array();
  for (const std::int64_t number : numbers) json.integer(number);
  json.end_array();
}

void add_value(JsonWriter& json, const char* key, const Region& region, double RegionValues::*member) {
  json.key(key);
  if (region.values.size() == 1) {
    json.real(region.values.front().*member);
    return;
  }
  json.begin_array();
  for (const RegionValues& values : region.values) json.real(values.*member);
  json.end_array();
}

void add_run_lengths(JsonWriter& json, const RunLengths& runs, RunLengthText text) {
  json.key("rle").begin_object();
  add_list(json, "size", {runs.height, runs.width});
  json.key("counts");
  if (text == RunLengthText::compressed) {
    json.string(compressed_counts(runs));
  } else {
    json.begin_array();
    for (const std::uint32_t count : runs.counts) json.integer(count);
    json.end_array();
  }
  json.end_object();
}

std::int64_t pixels_of(const std::vector<Region>& regions) {
  return std::accumulate(regions.begin(), regions.end(), std::int64_t{0},
                         [](std::int64_t sum, const Region& region) { return sum + region.area; });
}

/// An array of no rows, which no picture can be.
std::string empty_npy() {
  std::string header = "{'descr': '<u4', 'fortran_order': False, 'shape': (0, 3), }";
  constexpr std::size_t fixed = 10, alignment = 64;
  header.resize(alignment * 2 - fixed - 1, ' ');
  header += '\n';
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header;
}

}  // namespace

void add_region(JsonWriter& json, const Region& region, const RunLengths* runs, RunLengthText text) {
  json.begin_object();
  json.key("label").integer(region.label);
  json.key("area").integer(region.area);
  add_list(json, "bbox", {region.x, region.y, region.width, region.height});
  json.key("centroid").begin_array().real(region.centroid_x).real(region.centroid_y).end_array();
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

void write_labels(const std::filesystem::path& path, const Regions& regions, bool overwrite) {
  WriteOptions options;
  options.overwrite = overwrite;
  if (regions.regions.size() > std::numeric_limits<std::uint16_t>::max()) {
    try {
      write_image(path, regions.labels, options);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::usage) throw;
      throw Error(ErrorKind::usage, std::to_string(regions.regions.size()) +
                                        " regions need labels of 32 bits.\n" + error.what());
    }
    return;
  }
  Shape shape = regions.labels.shape();
  const auto* from = reinterpret_cast<const std::uint32_t*>(regions.labels.data());
  shape.type = Type::u16;
  Image labels(shape);
  std::transform(from, from + shape.width * shape.height, reinterpret_cast<std::uint16_t*>(labels.data()),
                 [](std::uint32_t label) { return static_cast<std::uint16_t>(label); });
  write_image(path, labels, options);
}

void write_coordinates(const std::filesystem::path& path, const Regions& regions, bool overwrite) {
  const std::int64_t pixels = pixels_of(regions.regions);
  if (pixels == 0) {
    const std::string npy = empty_npy();
    return write_file(path, std::as_bytes(std::span(npy)), overwrite);
  }
  std::vector<std::int64_t> next(regions.regions.size() + 1, 0);  // row of a label's next pixel
  for (const Region& region : regions.regions) next[region.label - 1] = region.area;
  std::exclusive_scan(next.begin(), next.end(), next.begin(), std::int64_t{0});
  Shape shape;
  shape.width = 3;
  shape.height = pixels;
  shape.type = Type::u32;
  Image rows(shape);
  const MutableImageView to = rows.view();
  const ImageView labels = regions.labels;
  for (std::int64_t y = 0; y < labels.shape.height; ++y) {
    const auto* label = labels.row<std::uint32_t>(y);
    for (std::int64_t x = 0; x < labels.shape.width; ++x) {
      if (label[x] == 0) continue;
      auto* row = to.row<std::uint32_t>(next[label[x] - 1]++);
      row[0] = label[x];
      row[1] = static_cast<std::uint32_t>(x);
      row[2] = static_cast<std::uint32_t>(y);
    }
  }
  WriteOptions options;
  options.overwrite = overwrite;
  write_image(path, rows, options);
}

}  // namespace satin::app

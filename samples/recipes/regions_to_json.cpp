// Connected regions of a mask as JSON, with COCO run lengths: regions_to_json MASK [MIN_AREA]

#include <satin/error.h>
#include <satin/filters/mask.h>
#include <satin/io.h>
#include <satin/param.h>
#include <satin/regions.h>
#include <satin/rle.h>

#include <iostream>
#include <vector>

namespace {

/// Escapes the backslash, the only character of run lengths for which JSON requires it.
std::string in_json(const std::string& counts) {
  std::string text;
  for (const char c : counts) text += c == '\\' ? std::string("\\\\") : std::string(1, c);
  return text;
}

void print(const satin::Region& region, const satin::RunLengths& runs) {
  std::cout << "{\"label\": " << region.label << ", \"area\": " << region.area << ", \"bbox\": [" << region.x
            << ", " << region.y << ", " << region.width << ", " << region.height << "], \"centroid\": ["
            << satin::print_real(region.centroid_x) << ", " << satin::print_real(region.centroid_y)
            << "], \"rle\": {\"size\": [" << runs.height << ", " << runs.width << "], \"counts\": \""
            << in_json(satin::compressed_counts(runs)) << "\"}}";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::cerr << "regions_to_json MASK [MIN_AREA]\n";
    return 2;
  }
  try {
    const satin::Device device = satin::Device::open("cpu");
    const satin::Image mask =
        satin::mask(device, satin::read_image(argv[1]));  // makes any picture black and white
    satin::Regions found = satin::find_regions(device, mask);

    const satin::RegionFilter wanted{
        .min_area = argc == 3 ? satin::parse_integer("MIN_AREA", argv[2], 0, 1L << 40) : 0};
    std::erase_if(found.regions, [&](const satin::Region& region) { return !satin::passes(region, wanted); });
    satin::renumber(device, found);

    std::vector<std::uint32_t> labels;
    for (const satin::Region& region : found.regions) labels.push_back(region.label);
    const std::vector<satin::RunLengths> runs = satin::encode_run_lengths(found.labels, labels);
    std::cout << "[";
    for (std::size_t i = 0; i < runs.size(); ++i) {
      std::cout << (i == 0 ? "\n  " : ",\n  ");
      print(found.regions[i], runs[i]);
    }
    std::cout << "\n]\n";
  } catch (const satin::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}

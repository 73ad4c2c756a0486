#pragma once
// The results of `satin regions`: the JSON object, and the pictures and arrays that go with it.

#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "app/json.h"
#include "satin/image.h"
#include "satin/regions.h"
#include "satin/rle.h"

namespace satin::app {

enum class RunLengthText { compressed, uncompressed, none };

/// The members of one region: label, area, bbox, centroid, touches_border; mean, min, max and deviation where
/// there are values, a number each, or a list with a number for each channel; rle.
void add_region(JsonWriter& json, const Region& region, const RunLengths* runs, RunLengthText text);

/// Label picture: u16 if the largest label fits, otherwise u32. Throws Error(usage) if the format holds only
/// 16 bits then.
void write_labels(const std::filesystem::path& path, const Regions& regions, bool overwrite);

/// Every pixel of every region as a row of label, x, y: u32, region after region, each in raster order.
void write_coordinates(const std::filesystem::path& path, const Regions& regions, bool overwrite);

}  // namespace satin::app

#include "metadata/resolution.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "metadata/exif.h"

namespace satin::io {
namespace {

using Unit = Resolution::Unit;

constexpr std::uint32_t x_resolution = 0x011A, y_resolution = 0x011B, resolution_unit = 0x0128;
constexpr double metres_per_inch = 0.0254;

std::optional<Resolution> if_informative(const Resolution& resolution) {
  const auto positive = [](double v) { return v > 0 && std::isfinite(v); };
  if (!positive(resolution.x) || !positive(resolution.y)) return std::nullopt;
  if (resolution.unit == Unit::none && resolution.x == resolution.y) return std::nullopt;
  return resolution;
}

/// Returns the value of a tag of the first directory; 0 if there is none.
double rational(const ExifReader& reader, Bytes exif, std::uint32_t tag) {
  const auto entry = reader.find(reader.first_directory(), tag);
  if (!entry || entry->type != type_rational || entry->count != 1) return 0;
  const std::size_t at = entry->value;
  if (at > exif.size() || exif.size() - at < 8) return 0;
  return static_cast<double>(reader.u32(at)) / static_cast<double>(reader.u32(at + 4));
}

/// Converts to pixels per inch. A whole number per inch is restored if it rounds to this number per metre.
double per_inch(double per_metre) {
  const double inches = per_metre * metres_per_inch, whole = std::round(inches);
  return std::round(whole / metres_per_inch) == per_metre ? whole : inches;
}

std::optional<StoredResolution> stored(double x, double y, unsigned unit, double most) {
  x = std::round(x);
  y = std::round(y);
  if (std::min(x, y) < 1 || std::max(x, y) > most) return std::nullopt;
  return StoredResolution{static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), unit};
}

}  // namespace

std::optional<Resolution> resolution_of_exif(Bytes exif) {
  const ExifReader reader(exif);
  if (!reader.valid()) return std::nullopt;
  const auto unit = reader.find(reader.first_directory(), resolution_unit);
  const std::uint32_t code = unit && unit->type == type_short ? unit->value : 2;
  const Unit read = code == 3 ? Unit::centimetre : code == 2 ? Unit::inch : Unit::none;
  return if_informative({rational(reader, exif, x_resolution), rational(reader, exif, y_resolution), read});
}

std::optional<Resolution> resolution_of_jfif(Bytes segment) {
  constexpr std::size_t unit_at = 7;  // after the name and the version
  if (segment.size() < unit_at + 5) return std::nullopt;
  const unsigned code = byte_at(segment, unit_at);
  const Unit unit = code == 1 ? Unit::inch : code == 2 ? Unit::centimetre : Unit::none;
  const auto x = static_cast<double>(be16(segment, unit_at + 1));
  const auto y = static_cast<double>(be16(segment, unit_at + 3));
  return if_informative({x, y, unit});
}

std::optional<Resolution> resolution_of_physical(Bytes chunk) {
  if (chunk.size() != 9) return std::nullopt;
  const auto x = static_cast<double>(be32(chunk, 0)), y = static_cast<double>(be32(chunk, 4));
  return if_informative({x, y, byte_at(chunk, 8) == 1 ? Unit::metre : Unit::none});
}

std::optional<StoredResolution> jfif_of(const Resolution& resolution) {
  const Resolution r = without_metres(resolution);
  const unsigned code = r.unit == Unit::inch ? 1 : r.unit == Unit::centimetre ? 2 : 0;
  return stored(r.x, r.y, code, std::numeric_limits<std::uint16_t>::max());
}

std::optional<StoredResolution> physical_of(const Resolution& resolution) {
  const Unit unit = resolution.unit;
  const double per_metre = unit == Unit::inch ? 1 / metres_per_inch : unit == Unit::centimetre ? 100 : 1;
  return stored(resolution.x * per_metre, resolution.y * per_metre, unit == Unit::none ? 0 : 1,
                std::numeric_limits<std::int32_t>::max());
}

Resolution without_metres(const Resolution& resolution) {
  if (resolution.unit != Unit::metre) return resolution;
  return {per_inch(resolution.x), per_inch(resolution.y), Unit::inch};
}

void turn_resolution(Metadata& metadata) {
  if (metadata.resolution) std::swap(metadata.resolution->x, metadata.resolution->y);
  const ExifReader reader(metadata.exif);
  if (!reader.valid()) return;
  const auto x = reader.find(reader.first_directory(), x_resolution);
  const auto y = reader.find(reader.first_directory(), y_resolution);
  if (!x || !y || x->type != y->type || x->count != y->count) return;
  constexpr std::size_t value_at = 8;
  std::swap_ranges(&metadata.exif[x->at + value_at], &metadata.exif[x->at] + entry_size,
                   &metadata.exif[y->at + value_at]);
}

}  // namespace satin::io

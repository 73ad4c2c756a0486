#include "lobes/lobe_mean.h"

#include <algorithm>
#include <string>

#include "satin/error.h"

namespace satin {

std::size_t bytes_of_lobes(const LobeMeanJob& job) noexcept {
  return job.bands.size() * sizeof(LobeBand) + job.rows.size() * sizeof(LobeRow);
}

PixelRead read_for_lobes(const Shape& shape, Transfer transfer) {
  const std::uint64_t area =
      static_cast<std::uint64_t>(shape.width) * static_cast<std::uint64_t>(shape.height) * largest_row_weight;
  const PixelRead read = read_pixels(shape, transfer, area);
  if (read.maximum > (~std::uint64_t{0} >> 1) / area)
    throw Error(ErrorKind::usage, "Sums over all " + std::to_string(shape.width) + " x " +
                                      std::to_string(shape.height) +
                                      " pixels of the map do not fit 63 bits: make it smaller, or use 8-bit "
                                      "pixels, no alpha, or space encoded.");
  return read;
}

void check_lobe_weights(const LobeMeanJob& job) {
  constexpr std::uint64_t limit = std::uint64_t{1} << 61;
  std::uint64_t largest = 0;
  for (const LobeRow& row : job.rows) largest = std::max(largest, row.weight);
  if (largest > (limit - 1) / std::max<std::uint64_t>(1, job.read.alpha_maximum))
    throw Error(ErrorKind::usage,
                "The map is too large for lobes as wide as these: make it smaller, take "
                "less roughness, or leave alpha out.");
}

std::vector<LobeMap> lobe_maps(const LobeMeanJob& job) {
  std::vector<LobeMap> maps;
  std::int64_t built = 0;
  for (const LobeLevel& level : job.levels) {
    LobeMap map{{job.width / level.cell, job.height / level.cell, job.read.channels, Type::u64}};
    const LobeRow* first = job.rows.data() + level.first_row;
    map.averages =
        std::any_of(first, first + map.cells.height, [](const LobeRow& row) { return row.bands > 0; });
    map.builds_table = map.averages && level.cell != built;
    if (map.builds_table) built = level.cell;
    maps.push_back(map);
  }
  return maps;
}

std::size_t largest_table(const std::vector<LobeMap>& maps) {
  std::size_t bytes = 0;
  for (const LobeMap& map : maps)
    if (map.builds_table) bytes = std::max(bytes, byte_size(map.cells));
  return bytes;
}

PixelRead weighed_pixels(const PixelRead& stored) {
  PixelRead weighed = stored;
  weighed.type = Type::u64;
  weighed.transfer = Transfer::identity;
  weighed.maximum *= largest_row_weight;
  weighed.alpha_maximum *= largest_row_weight;
  return weighed;
}

}  // namespace satin

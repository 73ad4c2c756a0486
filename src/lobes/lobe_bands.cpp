#include "lobes/lobe_bands.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>
#include <numeric>
#include <span>

#include "lobes/lobe_mean.h"
#include "lobes/maths/lobe_cells.h"

namespace satin {
namespace {

constexpr double pi = std::numbers::pi;
constexpr int caps_of_lobe = 12;
constexpr int caps_over_cells = 16;  ///< make up for what cells lose: see add_ggx_level()
constexpr double rows_of_first_cap = 4;
constexpr std::int64_t least_columns = 64;
constexpr std::int64_t most_groups_of_cap = 8;
constexpr std::int64_t fine_rows = 32;   ///< caps of fewer rows than this are sampled within rows
constexpr std::int32_t fine_reach = 16;  ///< from here on reaches are whole columns
constexpr std::uint32_t part = 256;      ///< of a column
constexpr std::uint32_t largest_cap_weight = 1 << 14;

/// Half the length, in radians of longitude, of the circle of latitude that the cap of radius `cap` around
/// colatitude `centre` holds: spherical law of cosines.
double half_length(double cap, double centre, double colatitude) {
  const double cosine =
      (std::cos(cap) - std::cos(centre) * std::cos(colatitude)) / (std::sin(centre) * std::sin(colatitude));
  return std::acos(std::clamp(cosine, -1.0, 1.0));
}

/// The map that a level's lobes are taken over.
struct CellMap {
  std::int64_t cell = 1;
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::vector<std::uint64_t> row_weights;  ///< of one column of pixels in each row of cells
};

CellMap cells_of(const LobeMeanJob& job, std::int64_t cell) {
  CellMap map{cell, job.width / cell, job.height / cell, {}};
  for (std::int64_t y = 0; y < map.height; ++y) {
    const std::uint32_t* first = job.row_weights.data() + y * cell;
    map.row_weights.push_back(std::accumulate(first, first + cell, std::uint64_t{0}));
  }
  return map;
}

/// The rows that a cap meets, with how many columns of each it holds.
struct CapRows {
  std::int64_t first = 0;
  std::vector<double> columns;
};

CapRows rows_of(double cap, std::int64_t y, const CellMap& map) {
  const double row = pi / static_cast<double>(map.height);
  const double centre = (static_cast<double>(y) + 0.5) * row;
  const auto row_at = [&](double colatitude) {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(colatitude / row)), 0,
                                    map.height - 1);
  };
  CapRows rows;
  rows.first = row_at(centre - cap);
  const std::int64_t count = row_at(centre + cap) + 1 - rows.first;
  const int samples = count < fine_rows ? 16 : 1;
  for (std::int64_t i = 0; i < count; ++i) {
    double sum = 0;
    for (int sample = 0; sample < samples; ++sample)
      sum += half_length(cap, centre, (static_cast<double>(rows.first + i) + (sample + 0.5) / samples) * row);
    rows.columns.push_back(sum / samples * static_cast<double>(map.width) / pi);
  }
  return rows;
}

/// A band of about `columns` columns, its weights for a cap of weight 1; no weight if that is nearly none.
LobeBand band_of(double columns, std::int64_t first_row, std::int64_t last_row, std::int64_t width) {
  LobeBand band;
  band.first_row = static_cast<std::int32_t>(first_row);
  band.last_row = static_cast<std::int32_t>(last_row);
  if (columns < 1) {
    band.inner = static_cast<std::uint32_t>(std::lround(columns * part));
    return band;
  }
  const double reach = (columns - 1) / 2;
  band.reach = static_cast<std::int32_t>(std::floor(reach));
  band.inner = part;
  if (band.reach >= fine_reach || 2 * band.reach + 3 > width) {
    band.reach = static_cast<std::int32_t>(std::lround(reach));
    if (2 * band.reach + 1 >= width) band.reach = LobeBand::whole_circle;
    return band;
  }
  band.outer = static_cast<std::uint32_t>(std::lround((reach - std::floor(reach)) * part));
  band.inner -= band.outer;
  if (band.inner == 0) {
    ++band.reach;
    std::swap(band.inner, band.outer);
  }
  return band;
}

/// Number of pixels of a band, each with the weights of band and row.
std::uint64_t weight_of(const LobeBand& band, const CellMap& map) {
  std::uint64_t rows = 0;
  for (std::int32_t y = band.first_row; y <= band.last_row; ++y)
    rows += map.row_weights[static_cast<std::size_t>(y)];
  if (band.reach == LobeBand::whole_circle) return rows * band.inner * static_cast<std::uint64_t>(map.width);
  const std::uint64_t columns = 2 * static_cast<std::uint64_t>(band.reach) + 1;
  return rows * (band.inner * columns + band.outer * (columns + 2));
}

struct Cap {
  std::vector<LobeBand> bands;
  std::uint64_t weight = 0;
};

/// Adds a band of the rows [first, last), counted from the cap's own first one, as wide as they are in the
/// mean.
void add_group(Cap& cap, const CapRows& rows, std::int64_t first, std::int64_t last, const CellMap& map) {
  double columns = 0;
  double weights = 0;
  for (std::int64_t i = first; i < last; ++i) {
    const auto weight = static_cast<double>(map.row_weights[static_cast<std::size_t>(rows.first + i)]);
    columns += rows.columns[static_cast<std::size_t>(i)] * weight;
    weights += weight;
  }
  const LobeBand band = band_of(columns / weights, rows.first + first, rows.first + last - 1, map.width);
  if (band.inner == 0) return;
  cap.bands.push_back(band);
  cap.weight += weight_of(band, map);
}

/// The rows around a pole that lie in the cap wholly are one band; the others are groups as high as each
/// other.
Cap cap_around(double radius, std::int64_t y, const CellMap& map) {
  const CapRows rows = rows_of(radius, y, map);
  const auto whole = [&](double columns) { return columns > static_cast<double>(map.width) - 0.5; };
  const auto partial = std::find_if_not(rows.columns.begin(), rows.columns.end(), whole);
  const auto behind =
      std::find_if_not(rows.columns.rbegin(), std::make_reverse_iterator(partial), whole).base();
  const std::int64_t first = partial - rows.columns.begin();
  const std::int64_t count = behind - partial;
  const auto last = static_cast<std::int64_t>(rows.columns.size());
  const std::int64_t groups = std::min(count, most_groups_of_cap);
  Cap cap;
  if (first > 0) add_group(cap, rows, 0, first, map);
  for (std::int64_t group = 0; group < groups; ++group)
    add_group(cap, rows, first + count * group / groups, first + count * (group + 1) / groups, map);
  if (first + count < last) add_group(cap, rows, first + count, last, map);
  if (cap.bands.empty()) {
    cap.bands.push_back(band_of(1, y, y, map.width));
    cap.weight = weight_of(cap.bands.front(), map);
  }
  return cap;
}

/// The bands of all caps around row y; caps weigh the less the larger they are.
void add_row(LobeMeanJob& job, const CellMap& map, std::span<const double> radii, std::int64_t y) {
  std::vector<Cap> caps;
  for (const double radius : radii) caps.push_back(cap_around(radius, y, map));
  std::uint64_t least = ~std::uint64_t{0};
  for (const Cap& cap : caps) least = std::min(least, cap.weight);
  LobeRow row;
  row.first_band = static_cast<std::uint32_t>(job.bands.size());
  for (const Cap& cap : caps) {
    const double share = static_cast<double>(least) / static_cast<double>(cap.weight);
    const auto weight = static_cast<std::uint32_t>(std::max(1L, std::lround(share * largest_cap_weight)));
    for (LobeBand band : cap.bands) {
      band.inner *= weight;
      band.outer *= weight;
      job.bands.push_back(band);
    }
    row.weight += weight * cap.weight;
  }
  row.weight *= static_cast<std::uint64_t>(map.cell);
  row.bands = static_cast<std::uint32_t>(job.bands.size()) - row.first_band;
  job.rows.push_back(row);
}

/// The row as far from the south pole as `row` is from the north pole.
void add_mirrored_row(LobeMeanJob& job, const CellMap& map, const LobeRow& row) {
  LobeRow mirrored = row;
  mirrored.first_band = static_cast<std::uint32_t>(job.bands.size());
  const auto last = static_cast<std::int32_t>(map.height - 1);
  for (std::uint32_t i = 0; i < row.bands; ++i) {
    LobeBand band = job.bands[row.first_band + i];
    std::swap(band.first_row, band.last_row);
    band.first_row = last - band.first_row;
    band.last_row = last - band.last_row;
    job.bands.push_back(band);
  }
  job.rows.push_back(mirrored);
}

/// The angular radii, in radians, of caps that share the lobe's light equally: the mean of their means is
/// nearly the mean over the lobe, D(h) cos(t) at angle t from the mirror direction, where h is t / 2 away
/// from the normal.
std::vector<double> ggx_caps(double roughness, int caps) {
  constexpr int steps = 4096;
  const double alpha2 = std::pow(roughness, 4);
  const auto angle = [](int i) { return pi / 2 * std::pow(i / static_cast<double>(steps), 3); };
  const auto lobe = [&](double t) {
    const double cosine2 = (1 + std::cos(t)) / 2;  // of t / 2
    const double d = 1 - cosine2 + alpha2 * cosine2;
    return alpha2 * std::cos(t) / (d * d);
  };
  // A lobe that falls with the angle is a stack of caps: the light of those up to radius t is the integral of
  // -lobe'(r) cap(r), by parts the light within t less what lies below the lobe's value there.
  std::vector<double> light(steps + 1);
  double within = 0;
  for (int i = 1; i <= steps; ++i) {
    const double low = angle(i - 1);
    const double high = angle(i);
    within += (lobe(low) + lobe(high)) / 2 * (std::cos(low) - std::cos(high));
    light[static_cast<std::size_t>(i)] = within - lobe(high) * (1 - std::cos(high));
  }
  std::vector<double> radii;
  int i = 1;
  for (int cap = 0; cap < caps; ++cap) {
    const double wanted = light.back() * (cap + 0.5) / caps;
    while (i < steps && light[static_cast<std::size_t>(i)] < wanted) ++i;
    radii.push_back(angle(i));
  }
  return radii;
}

/// The side of a cell so that the radius of the lobe's first cap is still some rows of cells.
std::int64_t cell_for(const LobeMeanJob& job, double first_cap) {
  const double rows = first_cap * static_cast<double>(job.height) / pi;
  std::int64_t cell = 1;
  while (cell < largest_cell && job.width % (2 * cell) == 0 && job.height % (2 * cell) == 0 &&
         job.width / (2 * cell) >= least_columns && rows >= rows_of_first_cap * static_cast<double>(2 * cell))
    cell *= 2;
  return cell;
}

}  // namespace

std::vector<std::uint32_t> row_weights(std::int64_t height) {
  const double row = pi / static_cast<double>(height);
  std::vector<std::uint32_t> weights(static_cast<std::size_t>(height));
  for (std::int64_t y = 0; y < (height + 1) / 2; ++y) {
    // solid angles are as cos(top) - cos(bottom) = 2 sin(centre) sin(row / 2)
    const double share = std::sin((static_cast<double>(y) + 0.5) * row);
    const auto weight = static_cast<std::uint32_t>(std::max(1L, std::lround(share * largest_row_weight)));
    weights[static_cast<std::size_t>(y)] = weights[static_cast<std::size_t>(height - 1 - y)] = weight;
  }
  return weights;
}

void add_copy(LobeMeanJob& job) {
  job.levels.push_back({1, job.rows.size()});
  job.rows.resize(job.rows.size() + static_cast<std::size_t>(job.height));
}

void add_ggx_level(LobeMeanJob& job, double roughness) {
  const std::vector<double> few_caps = ggx_caps(roughness, caps_of_lobe);
  const CellMap map = cells_of(job, cell_for(job, few_caps.front()));
  const std::vector<double> caps = map.cell == 1 ? few_caps : ggx_caps(roughness, caps_over_cells);
  const std::size_t first = job.rows.size();
  job.levels.push_back({map.cell, first});
  for (std::int64_t y = 0; y < map.height; ++y) {
    const std::int64_t opposite = map.height - 1 - y;
    if (opposite < y) {
      add_mirrored_row(job, map, LobeRow(job.rows[first + static_cast<std::size_t>(opposite)]));
    } else {
      add_row(job, map, caps, y);
    }
  }
}

}  // namespace satin

// Lobes of glossy reflection as boxes of a latitude-longitude map, and checks of their sums.
//
// The lobe of a GGX surface falls with the angle, so it is a stack of caps: discs on the sphere around the
// mirror direction. ggx_caps() chooses caps that share the lobe's light equally. A cap around a row of the
// map covers a number of columns in each row that it meets (spherical trigonometry), and a few of these rows
// together are one box.

#include "lobes/lobe_mean.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "lobes/maths/lobe_cells.h"
#include "satin/error.h"

namespace satin {

std::size_t bytes_of_lobes(const LobeMeanJob& job) noexcept {
  return job.boxes.size() * sizeof(LobeBox) + job.rows.size() * sizeof(LobeRow);
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

LobeMaps::LobeMaps(Backend& backend, const LobeMeanJob& job) {
  PixelRead read = job.read;
  read.type = Type::u64;
  read.transfer = Transfer::identity;
  read.maximum *= largest_row_weight;
  read.alpha_maximum *= largest_row_weight;
  std::int64_t built = 0;
  std::size_t largest = 0;
  for (const LobeLevel& level : job.levels) {
    const Shape cells{job.width / level.cell, job.height / level.cell, job.read.channels, Type::u64};
    LobeMap& map = maps.emplace_back(LobeMap{level, cells, nullptr});
    const LobeRow* first = job.rows.data() + level.first_row;
    const bool averages =
        std::any_of(first, first + cells.height, [](const LobeRow& row) { return row.boxes > 0; });
    if (!averages || level.cell == built) continue;
    built = level.cell;
    map.build = backend.prepare(TableJob{cells.width, cells.height, read, false, Accumulator::u64});
    largest = std::max(largest, byte_size(cells));
  }
  weighed = backend.allocate(largest);
  table = backend.allocate(largest);
}

std::size_t LobeMaps::bytes() const noexcept {
  std::size_t bytes = weighed.size + table.size;
  for (const LobeMap& map : maps)
    if (map.build != nullptr) bytes += map.build->workspace_bytes();
  return bytes;
}

namespace {

constexpr double pi = std::numbers::pi;
constexpr int caps_per_lobe = 12;
constexpr int caps_over_cells = 16;  ///< make up for the error of cells: see add_ggx_level()
constexpr double rows_of_first_cap = 4;
constexpr std::int64_t least_columns = 64;
constexpr std::int64_t most_boxes_of_cap = 8;
constexpr std::int64_t fine_rows = 32;       ///< caps of fewer rows are sampled within rows
constexpr std::int32_t fine_reach = 16;      ///< smallest reach that is rounded to whole columns
constexpr std::uint32_t whole_column = 256;  ///< weight of a whole column
constexpr std::uint32_t largest_cap_weight = 1 << 14;

/// Returns half the length, in radians of longitude, of the arc of a circle of latitude inside the cap of
/// radius `cap` around colatitude `centre`, by the spherical law of cosines.
double half_length(double cap, double centre, double colatitude) {
  const double cosine =
      (std::cos(cap) - std::cos(centre) * std::cos(colatitude)) / (std::sin(centre) * std::sin(colatitude));
  return std::acos(std::clamp(cosine, -1.0, 1.0));
}

/// The map of cells of a level.
struct CellMap {
  std::int64_t cell = 1;
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::vector<std::uint64_t> row_weights;  ///< sum of the weights of the pixel rows in each row of cells
};

CellMap cells_of(const LobeMeanJob& job, std::int64_t cell) {
  CellMap map{cell, job.width / cell, job.height / cell, {}};
  for (std::int64_t y = 0; y < map.height; ++y) {
    const std::uint32_t* first = job.row_weights.data() + y * cell;
    map.row_weights.push_back(std::accumulate(first, first + cell, std::uint64_t{0}));
  }
  return map;
}

struct CapRows {
  std::int64_t first = 0;
  std::vector<double> columns;  ///< number of columns of each row inside the cap
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

/// Returns a box of about `columns` columns, with weights for a cap of weight 1. The weight is 0 if there is
/// almost no column.
LobeBox box_of(double columns, std::int64_t first_row, std::int64_t last_row, std::int64_t width) {
  LobeBox box;
  box.first_row = static_cast<std::int32_t>(first_row);
  box.last_row = static_cast<std::int32_t>(last_row);
  if (columns < 1) {
    box.inner = static_cast<std::uint32_t>(std::lround(columns * whole_column));
    return box;
  }
  const double reach = (columns - 1) / 2;
  box.reach = static_cast<std::int32_t>(std::floor(reach));
  box.inner = whole_column;
  if (box.reach >= fine_reach || 2 * box.reach + 3 > width) {
    box.reach = static_cast<std::int32_t>(std::lround(reach));
    if (2 * box.reach + 1 >= width) box.reach = LobeBox::whole_circle;
    return box;
  }
  box.outer = static_cast<std::uint32_t>(std::lround((reach - std::floor(reach)) * whole_column));
  box.inner -= box.outer;
  if (box.inner == 0) {
    ++box.reach;
    std::swap(box.inner, box.outer);
  }
  return box;
}

std::uint64_t weight_of(const LobeBox& box, const CellMap& map) {
  std::uint64_t rows = 0;
  for (std::int32_t y = box.first_row; y <= box.last_row; ++y)
    rows += map.row_weights[static_cast<std::size_t>(y)];
  if (box.reach == LobeBox::whole_circle) return rows * box.inner * static_cast<std::uint64_t>(map.width);
  const std::uint64_t columns = 2 * static_cast<std::uint64_t>(box.reach) + 1;
  return rows * (box.inner * columns + box.outer * (columns + 2));
}

struct Cap {
  std::vector<LobeBox> boxes;
  std::uint64_t weight = 0;
};

/// Adds a box for the rows [first, last) of the cap, as wide as their mean.
void add_rows(Cap& cap, const CapRows& rows, std::int64_t first, std::int64_t last, const CellMap& map) {
  double columns = 0;
  double weights = 0;
  for (std::int64_t i = first; i < last; ++i) {
    const auto weight = static_cast<double>(map.row_weights[static_cast<std::size_t>(rows.first + i)]);
    columns += rows.columns[static_cast<std::size_t>(i)] * weight;
    weights += weight;
  }
  const LobeBox box = box_of(columns / weights, rows.first + first, rows.first + last - 1, map.width);
  if (box.inner == 0) return;
  cap.boxes.push_back(box);
  cap.weight += weight_of(box, map);
}

/// Returns the boxes of a cap. Whole rows around a pole are one box; the others have boxes of the same
/// height.
Cap cap_around(double radius, std::int64_t y, const CellMap& map) {
  const CapRows rows = rows_of(radius, y, map);
  const auto whole = [&](double columns) { return columns > static_cast<double>(map.width) - 0.5; };
  const auto partial = std::find_if_not(rows.columns.begin(), rows.columns.end(), whole);
  const auto behind =
      std::find_if_not(rows.columns.rbegin(), std::make_reverse_iterator(partial), whole).base();
  const std::int64_t first = partial - rows.columns.begin();
  const std::int64_t count = behind - partial;
  const auto last = static_cast<std::int64_t>(rows.columns.size());
  const std::int64_t boxes = std::min(count, most_boxes_of_cap);
  Cap cap;
  if (first > 0) add_rows(cap, rows, 0, first, map);
  for (std::int64_t box = 0; box < boxes; ++box)
    add_rows(cap, rows, first + count * box / boxes, first + count * (box + 1) / boxes, map);
  if (first + count < last) add_rows(cap, rows, first + count, last, map);
  if (cap.boxes.empty()) {
    cap.boxes.push_back(box_of(1, y, y, map.width));
    cap.weight = weight_of(cap.boxes.front(), map);
  }
  return cap;
}

/// Adds the boxes of all caps around row y. All caps have the same total weight, so larger ones have smaller
/// weights per pixel.
void add_row(LobeMeanJob& job, const CellMap& map, std::span<const double> radii, std::int64_t y) {
  std::vector<Cap> caps;
  for (const double radius : radii) caps.push_back(cap_around(radius, y, map));
  std::uint64_t least = ~std::uint64_t{0};
  for (const Cap& cap : caps) least = std::min(least, cap.weight);
  LobeRow row;
  row.first_box = static_cast<std::uint32_t>(job.boxes.size());
  for (const Cap& cap : caps) {
    const double share = static_cast<double>(least) / static_cast<double>(cap.weight);
    const auto weight = static_cast<std::uint32_t>(std::max(1L, std::lround(share * largest_cap_weight)));
    for (LobeBox box : cap.boxes) {
      box.inner *= weight;
      box.outer *= weight;
      job.boxes.push_back(box);
    }
    row.weight += weight * cap.weight;
  }
  row.weight *= static_cast<std::uint64_t>(map.cell);
  row.boxes = static_cast<std::uint32_t>(job.boxes.size()) - row.first_box;
  job.rows.push_back(row);
}

void add_mirrored_row(LobeMeanJob& job, const CellMap& map, const LobeRow& row) {
  LobeRow mirrored = row;
  mirrored.first_box = static_cast<std::uint32_t>(job.boxes.size());
  const auto last = static_cast<std::int32_t>(map.height - 1);
  for (std::uint32_t i = 0; i < row.boxes; ++i) {
    LobeBox box = job.boxes[row.first_box + i];
    std::swap(box.first_row, box.last_row);
    box.first_row = last - box.first_row;
    box.last_row = last - box.last_row;
    job.boxes.push_back(box);
  }
  job.rows.push_back(mirrored);
}

/// Returns the angular radii, in radians, of caps that share the lobe's light equally. The mean of their
/// means is nearly the mean over the lobe, which is D(h) cos(t) at angle t from the mirror direction, where h
/// is t / 2 away from the normal.
std::vector<double> ggx_caps(double roughness, int caps) {
  constexpr int steps = 4096;
  const double alpha2 = std::pow(roughness, 4);
  const auto angle = [](int i) { return pi / 2 * std::pow(i / static_cast<double>(steps), 3); };
  const auto lobe = [&](double t) {
    const double cosine2 = (1 + std::cos(t)) / 2;  // squared cosine of t / 2
    const double d = 1 - cosine2 + alpha2 * cosine2;
    return alpha2 * std::cos(t) / (d * d);
  };
  // The light of the caps up to radius t is the integral of -lobe'(r) cap(r). Integrated by parts, it is the
  // light within t without the lobe's value at t times the area within t.
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

/// Returns the largest side of a cell for which the radius of the lobe's first cap is rows_of_first_cap
/// cells.
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
  const std::vector<double> few_caps = ggx_caps(roughness, caps_per_lobe);
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

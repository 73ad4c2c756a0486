#include "core/lobe_bands.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>

namespace satin {
namespace {

constexpr double pi = std::numbers::pi;
constexpr int caps_of_lobe = 12;
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

/// The rows that a cap meets, with how many columns of each it holds.
struct CapRows {
  std::int64_t first = 0;
  std::vector<double> columns;
};

CapRows rows_of(double cap, std::int64_t y, const LobeMeanJob& job) {
  const double row = pi / static_cast<double>(job.height);
  const double centre = (static_cast<double>(y) + 0.5) * row;
  const auto row_at = [&](double colatitude) {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(colatitude / row)), 0,
                                    job.height - 1);
  };
  CapRows rows;
  rows.first = row_at(centre - cap);
  const std::int64_t count = row_at(centre + cap) + 1 - rows.first;
  const int samples = count < fine_rows ? 16 : 1;
  for (std::int64_t i = 0; i < count; ++i) {
    double sum = 0;
    for (int sample = 0; sample < samples; ++sample)
      sum += half_length(cap, centre, (static_cast<double>(rows.first + i) + (sample + 0.5) / samples) * row);
    rows.columns.push_back(sum / samples * static_cast<double>(job.width) / pi);
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
std::uint64_t weight_of(const LobeBand& band, const LobeMeanJob& job) {
  std::uint64_t rows = 0;
  for (std::int32_t y = band.first_row; y <= band.last_row; ++y)
    rows += job.row_weights[static_cast<std::size_t>(y)];
  if (band.reach == LobeBand::whole_circle) return rows * band.inner * static_cast<std::uint64_t>(job.width);
  const auto columns = static_cast<std::uint64_t>(2 * band.reach + 1);
  return rows * (band.inner * columns + band.outer * (columns + 2));
}

struct Cap {
  std::vector<LobeBand> bands;
  std::uint64_t weight = 0;
};

/// Adds a band of the rows [first, last), counted from the cap's own first one, as wide as they are in the
/// mean.
void add_group(Cap& cap, const CapRows& rows, std::int64_t first, std::int64_t last, const LobeMeanJob& job) {
  double columns = 0;
  double weights = 0;
  for (std::int64_t i = first; i < last; ++i) {
    const double weight = job.row_weights[static_cast<std::size_t>(rows.first + i)];
    columns += rows.columns[static_cast<std::size_t>(i)] * weight;
    weights += weight;
  }
  const LobeBand band = band_of(columns / weights, rows.first + first, rows.first + last - 1, job.width);
  if (band.inner == 0) return;
  cap.bands.push_back(band);
  cap.weight += weight_of(band, job);
}

/// The rows around a pole that lie in the cap wholly are one band; the others are groups as high as each
/// other.
Cap cap_around(double radius, std::int64_t y, const LobeMeanJob& job) {
  const CapRows rows = rows_of(radius, y, job);
  const auto whole = [&](double columns) { return columns > static_cast<double>(job.width) - 0.5; };
  const auto partial = std::find_if_not(rows.columns.begin(), rows.columns.end(), whole);
  const auto behind =
      std::find_if_not(rows.columns.rbegin(), std::make_reverse_iterator(partial), whole).base();
  const std::int64_t first = partial - rows.columns.begin();
  const std::int64_t count = behind - partial;
  const auto last = static_cast<std::int64_t>(rows.columns.size());
  const std::int64_t groups = std::min(count, most_groups_of_cap);
  Cap cap;
  if (first > 0) add_group(cap, rows, 0, first, job);
  for (std::int64_t group = 0; group < groups; ++group)
    add_group(cap, rows, first + count * group / groups, first + count * (group + 1) / groups, job);
  if (first + count < last) add_group(cap, rows, first + count, last, job);
  if (cap.bands.empty()) {
    cap.bands.push_back(band_of(1, y, y, job.width));
    cap.weight = weight_of(cap.bands.front(), job);
  }
  return cap;
}

/// The bands of all caps around row y; caps weigh the less the larger they are.
void add_row(LobeMeanJob& job, std::span<const double> radii, std::int64_t y) {
  std::vector<Cap> caps;
  for (const double radius : radii) caps.push_back(cap_around(radius, y, job));
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
  row.bands = static_cast<std::uint32_t>(job.bands.size()) - row.first_band;
  job.rows.push_back(row);
}

/// The row as far from the south pole as `row` is from the north pole.
void add_mirrored_row(LobeMeanJob& job, const LobeRow& row) {
  LobeRow mirrored = row;
  mirrored.first_band = static_cast<std::uint32_t>(job.bands.size());
  const auto last = static_cast<std::int32_t>(job.height - 1);
  for (std::uint32_t i = 0; i < row.bands; ++i) {
    LobeBand band = job.bands[row.first_band + i];
    std::swap(band.first_row, band.last_row);
    band.first_row = last - band.first_row;
    band.last_row = last - band.last_row;
    job.bands.push_back(band);
  }
  job.rows.push_back(mirrored);
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

std::vector<double> ggx_caps(double roughness) {
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
  for (int cap = 0; cap < caps_of_lobe; ++cap) {
    const double wanted = light.back() * (cap + 0.5) / caps_of_lobe;
    while (i < steps && light[static_cast<std::size_t>(i)] < wanted) ++i;
    radii.push_back(angle(i));
  }
  return radii;
}

void add_level(LobeMeanJob& job, std::span<const double> caps) {
  const std::size_t level = job.rows.size();
  for (std::int64_t y = 0; y < job.height; ++y) {
    const std::int64_t opposite = job.height - 1 - y;
    if (caps.empty()) {
      job.rows.emplace_back();
    } else if (opposite < y) {
      add_mirrored_row(job, LobeRow(job.rows[level + static_cast<std::size_t>(opposite)]));
    } else {
      add_row(job, caps, y);
    }
  }
}

}  // namespace satin

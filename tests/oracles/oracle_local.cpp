#include "tests/oracles/oracle_local.h"

#include <cmath>

namespace satin::test {
namespace {

Local local_at(const Plane& plane, const LineWeights& columns, const LineWeights& rows) {
  Real weight = 0;
  Real sum = 0;
  for (const auto& row : rows.terms)
    for (const auto& column : columns.terms) {
      const auto times = static_cast<Real>(row.weight * column.weight);
      weight += times;
      sum += times * plane.at(column.index, row.index);
    }
  Local local{sum / weight, 0};
  for (const auto& row : rows.terms)
    for (const auto& column : columns.terms) {
      const Real distance = plane.at(column.index, row.index) - local.mean;
      local.deviation += static_cast<Real>(row.weight * column.weight) * distance * distance;
    }
  local.deviation = std::sqrt(local.deviation / weight);
  return local;
}

}  // namespace

double stored(const ImageView& view, std::int64_t x, std::int64_t y, int c) {
  if (view.shape.type == Type::u8) return view.value<std::uint8_t>(x, y, c);
  if (view.shape.type == Type::u16) return view.value<std::uint16_t>(x, y, c);
  return static_cast<double>(view.value<float>(x, y, c));
}

Plane plane_of(const ImageView& picture, int channel) {
  Plane plane{picture.shape.width, picture.shape.height, {}};
  for (std::int64_t y = 0; y < plane.height; ++y)
    for (std::int64_t x = 0; x < plane.width; ++x) plane.values.push_back(stored(picture, x, y, channel));
  return plane;
}

Plane luminance_of(const ImageView& picture) {
  Plane plane{picture.shape.width, picture.shape.height, {}};
  for (std::int64_t y = 0; y < plane.height; ++y)
    for (std::int64_t x = 0; x < plane.width; ++x) {
      double value = stored(picture, x, y, 0);
      if (picture.shape.channels >= 3) {
        const Real weighted = 0.2126L * stored(picture, x, y, 0) + 0.7152L * stored(picture, x, y, 1) +
                              0.0722L * stored(picture, x, y, 2);
        value = picture.shape.type == Type::f32 ? static_cast<double>(static_cast<float>(weighted))
                                                : static_cast<double>(std::floor(weighted + 0.5L));
      }
      plane.values.push_back(value);
    }
  return plane;
}

std::vector<Local> all_local(const Plane& plane, int window, Border border) {
  const int reach = window / 2;
  const ExtendedLine columns(static_cast<int>(plane.width), reach, border);
  const ExtendedLine rows(static_cast<int>(plane.height), reach, border);
  std::vector<Local> result;
  for (int y = 0; y < rows.size(); ++y)
    for (int x = 0; x < columns.size(); ++x)
      result.push_back(local_at(plane, whole_window(columns, x, reach), whole_window(rows, y, reach)));
  return result;
}

}  // namespace satin::test

#include <algorithm>
#include <cmath>
#include <map>

#include "pictures.h"
#include "svg.h"

namespace study {

namespace {

constexpr double panel_width = 360;
constexpr double top = 40;
constexpr double bottom = 380;
constexpr const char* grey = "#ddd";
constexpr const char* colours[] = {"#444444", "#1b6ca8", "#d1495b", "#3a7d44", "#e09f3e",
                                   "#6a4c93", "#00a6a6", "#a0522d", "#7a7a00", "#c71585",
                                   "#4169e1", "#ff7f50", "#8a9a5b", "#9e1b32"};

using Series = std::map<std::string, std::vector<Point>>;  // values by ascending n

/// A range between powers of ten.
struct Decades {
  double low = 0;
  double high = 1;
  [[nodiscard]] double part(double value) const { return (std::log10(value) - low) / (high - low); }
};

template <class Coordinate>
Decades decades_of(const Series& series, Coordinate coordinate) {
  double smallest = 1e300;
  double largest = 0;
  for (const auto& [name, points] : series)
    for (const Point& p : points) {
      smallest = std::min(smallest, coordinate(p));
      largest = std::max(largest, coordinate(p));
    }
  const double low = std::floor(std::log10(smallest));
  return {low, std::max(low + 1, std::ceil(std::log10(largest)))};
}

std::string power_of_ten(double exponent) {
  if (exponent >= -3 && exponent <= 3) {
    const std::string text = std::to_string(std::pow(10.0, exponent));
    return exponent < 0 ? text.substr(0, static_cast<std::size_t>(2 - exponent))
                        : text.substr(0, text.find('.'));
  }
  return "1e" + std::to_string(static_cast<int>(exponent));
}

void draw_panel(Svg& svg, double left, const std::string& title, const Series& series,
                const std::map<std::string, const char*>& colour_of) {
  if (series.empty()) return;
  const Decades across = decades_of(series, [](const Point& p) { return p.x; });
  const Decades up = decades_of(series, [](const Point& p) { return p.y; });
  const auto at = [&](const Point& p) {
    return Point{left + panel_width * across.part(p.x), bottom - (bottom - top) * up.part(p.y)};
  };
  svg.text({left, top - 14}, title, "start");
  for (double d = across.low; d <= across.high; ++d) {
    const double x = at({std::pow(10.0, d), 1}).x;
    svg.line({x, top}, {x, bottom}, grey);
    svg.text({x, bottom + 18}, power_of_ten(d));
  }
  for (double d = up.low; d <= up.high; ++d) {
    const double y = at({1, std::pow(10.0, d)}).y;
    svg.line({left, y}, {left + panel_width, y}, grey);
    svg.text({left - 6, y + 4}, power_of_ten(d), "end");
  }
  svg.text({left + panel_width / 2, bottom + 38}, "n, values");
  for (const auto& [name, points] : series) {
    std::vector<Point> places;
    std::transform(points.begin(), points.end(), std::back_inserter(places), at);
    svg.path(places, colour_of.at(name));
    for (const Point& p : places) svg.circle(p, 3, colour_of.at(name));
  }
}

}  // namespace

void plot(std::ostream& out, const std::vector<Measurement>& rows, const std::vector<GpuTime>& gpu_rows) {
  Series times;
  Series operations;
  Series gpu_times;
  std::vector<std::string> names;  // in the order of the table
  for (const Measurement& row : rows) {
    const auto n = static_cast<double>(row.n);
    if (!times.contains(row.name)) names.push_back(row.name);
    times[row.name].push_back({n, row.nanoseconds_per_value()});
    if (row.cost.operations > 0)
      operations[row.name].push_back({n, static_cast<double>(row.cost.operations) / n});
  }
  for (const GpuTime& row : gpu_rows) {
    const auto n = static_cast<double>(row.n);
    if (std::find(names.begin(), names.end(), row.name) == names.end()) names.push_back(row.name);
    gpu_times[row.name].push_back({n, row.milliseconds * 1e6 / n});
  }
  std::map<std::string, const char*> colour_of;
  for (std::size_t i = 0; i < names.size(); ++i) colour_of[names[i]] = colours[i % std::size(colours)];

  constexpr double step = panel_width + 80;
  const int panels = gpu_rows.empty() ? 2 : 3;
  Svg svg(out, static_cast<int>(60 + panels * step + 150), 430);
  draw_panel(svg, 60, "operations per value", operations, colour_of);
  draw_panel(svg, 60 + step, "CPU: nanoseconds per value", times, colour_of);
  draw_panel(svg, 60 + 2 * step, "GPU: nanoseconds per value", gpu_times, colour_of);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Point mark{60 + panels * step - 40, top + 10 + 20 * static_cast<double>(i)};
    svg.circle(mark, 5, colour_of[names[i]]);
    svg.text({mark.x + 12, mark.y + 4}, names[i], "start");
  }
}

}  // namespace study

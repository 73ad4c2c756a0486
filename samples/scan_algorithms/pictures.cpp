#include "pictures.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "blelloch.h"
#include "hillis_steele.h"

namespace study {
namespace {

struct Point {
  double x = 0;
  double y = 0;
};

/// A small SVG writer. Writes the opening tag and a white background on construction, the closing tag on
/// destruction.
class Svg {
 public:
  Svg(std::ostream& out, int width, int height) : out_(out) {
    out_ << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << width << "\" height=\"" << height
         << "\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" "
            "fill=\"white\"/>\n";
  }
  ~Svg() { out_ << "</svg>\n"; }
  Svg(const Svg&) = delete;
  Svg& operator=(const Svg&) = delete;

  void text(Point at, const std::string& content, const char* anchor = "middle") {
    out_ << "<text x=\"" << at.x << "\" y=\"" << at.y << "\" text-anchor=\"" << anchor << "\">";
    for (const char c : content)
      if (c == '<')
        out_ << "&lt;";
      else if (c == '&')
        out_ << "&amp;";
      else
        out_ << c;
    out_ << "</text>\n";
  }

  void line(Point from, Point to, const char* colour, double width = 1) {
    out_ << "<line x1=\"" << from.x << "\" y1=\"" << from.y << "\" x2=\"" << to.x << "\" y2=\"" << to.y
         << "\" stroke=\"" << colour << "\" stroke-width=\"" << width << "\"/>\n";
  }

  void path(const std::vector<Point>& points, const char* colour) {
    out_ << "<polyline fill=\"none\" stroke=\"" << colour << "\" stroke-width=\"2\" points=\"";
    for (const Point& p : points) out_ << p.x << ',' << p.y << ' ';
    out_ << "\"/>\n";
  }

  void circle(Point centre, double radius, const char* fill, const char* edge = "none") {
    out_ << "<circle cx=\"" << centre.x << "\" cy=\"" << centre.y << "\" r=\"" << radius << "\" fill=\""
         << fill << "\" stroke=\"" << edge << "\"/>\n";
  }

 private:
  std::ostream& out_;
};

// --- Time and operations against n ---

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

// --- Networks of additions ---

constexpr Index elements = 8;

/// An element that a step writes, the elements that it comes from, and whether it is a sum.
struct Node {
  Index step;
  Index element;
  std::vector<Index> from;
  bool sum;
};

/// Returns the nodes of the network. A sum comes from everything that its processor read; an element written
/// without an operation is a copy of the last one read, or a constant.
std::vector<Node> nodes_of(const std::vector<Event>& events) {
  std::vector<Node> nodes;
  std::vector<Index> read;
  bool sum = false;
  bool written = false;  // since the last read: the next read is by another processor
  for (const Event& event : events) {
    if (event.kind == Event::Kind::read) {
      if (written) read.clear();
      written = false;
      read.push_back(event.element);
    } else if (event.kind == Event::Kind::operation) {
      sum = true;
    } else {
      Node node{event.step, event.element, {}, sum};
      if (sum)
        node.from = read;
      else if (!written)
        node.from = {read.back()};
      std::sort(node.from.begin(), node.from.end());  // compilers evaluate operands in different orders
      nodes.push_back(node);
      sum = false;
      written = true;
    }
  }
  return nodes;
}

std::vector<Event> events_of(const std::string& name) {
  std::vector<std::uint32_t> x(elements, 1);
  std::vector<std::uint32_t> y(elements);
  std::vector<Event> events;
  Counting m(Order::ascending, {}, &events);
  if (name == "hillis_steele")
    hillis_steele(m, m.memory(std::span(x)), m.memory(std::span(y)), elements, Sum{});
  else if (name == "blelloch")
    blelloch(m, m.memory(std::span(x)), elements, Sum{});
  else
    throw std::invalid_argument("There are pictures of hillis_steele and of blelloch, not of '" + name +
                                "'.");
  return events;
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

void draw_network(std::ostream& out, const std::string& name) {
  const std::vector<Node> nodes = nodes_of(events_of(name));
  const Index steps = nodes.back().step + 1;
  constexpr double distance = 56;
  const auto at = [](Index element, Index step) {
    return Point{40 + distance * static_cast<double>(element), 40 + distance * static_cast<double>(step + 1)};
  };
  Svg svg(out, static_cast<int>(80 + distance * (elements - 1)),
          static_cast<int>(72 + distance * static_cast<double>(steps)));
  for (Index i = 0; i < elements; ++i) {
    svg.line(at(i, -1), at(i, steps - 1), "#bbb");
    svg.text({at(i, -1).x, 28}, "x" + std::to_string(i));
  }
  for (const Node& node : nodes)
    for (const Index from : node.from)
      svg.line(at(from, node.step - 1), at(node.element, node.step), node.sum ? "#1b6ca8" : "#e09f3e", 2);
  for (const Node& node : nodes) {
    const Point centre = at(node.element, node.step);
    if (node.sum)
      svg.circle(centre, 9, "#1b6ca8");
    else
      svg.circle(centre, node.from.empty() ? 9 : 4, node.from.empty() ? "white" : "#e09f3e", "#e09f3e");
    if (node.from.empty()) svg.text({centre.x, centre.y + 4}, "0");
    if (node.sum) svg.line({centre.x - 5, centre.y}, {centre.x + 5, centre.y}, "white", 2);
    if (node.sum) svg.line({centre.x, centre.y - 5}, {centre.x, centre.y + 5}, "white", 2);
  }
}

}  // namespace study

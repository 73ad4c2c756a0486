#include <algorithm>
#include <map>
#include <stdexcept>

#include "blelloch.h"
#include "hillis_steele.h"
#include "pictures.h"
#include "svg.h"

namespace study {

namespace {

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

#include "scene_shapes.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace scene {
namespace {

constexpr double nearest_t = 1e-7;
constexpr double seam = 1e-9;  // overlap of neighbouring cones, so that no ray passes between them
constexpr int spline_steps = 5;
constexpr std::size_t leaf_size = 2;
constexpr std::size_t max_depth = 512;  // depth of the hierarchy; a scene has fewer objects

LocalHit intersect(const Sphere& sphere, const Ray& ray, double limit) {
  // Measured from the point of the ray nearest to the centre, which keeps precision for far spheres
  const double middle = -dot(ray.origin, ray.direction);
  const Vec3 nearest = ray.at(middle);
  const double reach = sphere.radius * sphere.radius - dot(nearest, nearest);
  if (reach < 0) return {};
  const double half = std::sqrt(reach);
  const double t = middle - half > nearest_t ? middle - half : middle + half;
  if (t <= nearest_t || t >= limit) return {};
  return {t, ray.at(t) * (1 / sphere.radius)};
}

LocalHit intersect(const Box& box, const Ray& ray, double limit) {
  const std::array<double, 3> origin{ray.origin.x, ray.origin.y, ray.origin.z};
  const std::array<double, 3> direction{ray.direction.x, ray.direction.y, ray.direction.z};
  const std::array<double, 3> half{box.half.x, box.half.y, box.half.z};
  double enter = -infinity, leave = infinity;
  std::size_t enter_axis = 0, leave_axis = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double inverse = 1 / direction[axis];
    const double a = (-half[axis] - origin[axis]) * inverse, b = (half[axis] - origin[axis]) * inverse;
    if (std::min(a, b) > enter) {
      enter = std::min(a, b);
      enter_axis = axis;
    }
    if (std::max(a, b) < leave) {
      leave = std::max(a, b);
      leave_axis = axis;
    }
  }
  if (enter > leave) return {};
  const bool outside = enter > nearest_t;
  const double t = outside ? enter : leave;
  const std::size_t axis = outside ? enter_axis : leave_axis;
  if (t <= nearest_t || t >= limit) return {};
  std::array<double, 3> normal{};
  normal[axis] = (direction[axis] > 0) == outside ? -1 : 1;
  return {t, {normal[0], normal[1], normal[2]}};
}

LocalHit intersect(const Capsule& capsule, const Ray& ray, double limit) {
  const double axis2 = dot(capsule.end, capsule.end);
  const double along = dot(capsule.end, ray.direction), start = dot(capsule.end, ray.origin);
  const double a = axis2 - along * along;
  const double b = axis2 * dot(ray.direction, ray.origin) - start * along;
  const double c = axis2 * (dot(ray.origin, ray.origin) - capsule.radius * capsule.radius) - start * start;
  const double discriminant = b * b - a * c;
  if (discriminant < 0) return {};
  const double t = (-b - std::sqrt(discriminant)) / a;
  const double foot = start + t * along;
  if (foot > 0 && foot < axis2) {
    if (t <= nearest_t || t >= limit) return {};
    return {t, (ray.at(t) - capsule.end * (foot / axis2)) * (1 / capsule.radius)};
  }
  const Vec3 centre = foot <= 0 ? Vec3{} : capsule.end;
  return intersect(Sphere{capsule.radius}, Ray{ray.origin - centre, ray.direction}, limit);
}

LocalHit intersect(const Lathe& lathe, const Ray& ray, double limit) { return lathe.intersect(ray, limit); }

LocalHit intersect(const Object& object, const Ray& ray, double limit) {
  const Ray local{object.turn.undo(ray.origin - object.position), object.turn.undo(ray.direction)};
  return std::visit([&](const auto& shape) { return intersect(shape, local, limit); }, object.shape);
}

Bounds local_bounds(const Shape& shape) {
  struct Visitor {
    Bounds operator()(const Sphere& s) const {
      return {{-s.radius, -s.radius, -s.radius}, {s.radius, s.radius, s.radius}};
    }
    Bounds operator()(const Box& b) const { return {-b.half, b.half}; }
    Bounds operator()(const Capsule& c) const {
      Bounds bounds = (*this)(Sphere{c.radius});
      bounds.include(Bounds{bounds.low + c.end, bounds.high + c.end});
      return bounds;
    }
    Bounds operator()(const Lathe& l) const { return l.bounds(); }
  };
  return std::visit(Visitor{}, shape);
}

Vec2 catmull_rom(Vec2 before, Vec2 from, Vec2 to, Vec2 after, double t) {
  const auto blend = [t](double p0, double p1, double p2, double p3) {
    return p1 + 0.5 * t * (p2 - p0 + t * (2 * p0 - 5 * p1 + 4 * p2 - p3 + t * (3 * (p1 - p2) + p3 - p0)));
  };
  return {std::max(0.0, blend(before.x, from.x, to.x, after.x)), blend(before.y, from.y, to.y, after.y)};
}

bool same(Vec2 a, Vec2 b) { return a.x == b.x && a.y == b.y; }

Vec2 outward(Vec2 from, Vec2 to) {
  const double size = std::hypot(to.x - from.x, to.y - from.y);
  return size > 0 ? Vec2{(to.y - from.y) / size, (from.x - to.x) / size} : Vec2{1, 0};
}

}  // namespace

void Bounds::include(Vec3 p) {
  low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
  high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
}

void Bounds::include(const Bounds& b) {
  include(b.low);
  include(b.high);
}

double Bounds::area() const {
  const Vec3 size = high - low;
  return size.x * size.y + size.y * size.z + size.z * size.x;
}

Lathe::Lathe(std::span<const Vec2> profile, double scale) {
  std::vector<Vec2> run;
  for (const Vec2 point : profile) {
    const Vec2 scaled{point.x * scale, point.y * scale};
    if (!run.empty() && same(run.back(), scaled)) {
      add_run(run);
      run.clear();
    }
    run.push_back(scaled);
  }
  add_run(run);
}

void Lathe::add_run(std::span<const Vec2> points) {
  if (points.size() < 2) return;
  std::vector<Vec2> line;
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    const Vec2 before = points[i == 0 ? 0 : i - 1], after = points[std::min(i + 2, points.size() - 1)];
    const int steps = points.size() == 2 ? 1 : spline_steps;
    for (int step = 0; step < steps; ++step) {
      line.push_back(catmull_rom(before, points[i], points[i + 1], after, static_cast<double>(step) / steps));
    }
  }
  line.push_back(points.back());
  Run run;
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    const Vec2 before = line[i == 0 ? 0 : i - 1], after = line[std::min(i + 2, line.size() - 1)];
    run.segments.push_back({line[i], line[i + 1], outward(before, line[i + 1]), outward(line[i], after)});
  }
  for (const Vec2 p : line) {
    run.radius = std::max(run.radius, p.x);
    run.low = std::min(run.low, p.y);
    run.high = std::max(run.high, p.y);
  }
  radius_ = std::max(radius_, run.radius);
  low_ = std::min(low_, run.low);
  high_ = std::max(high_, run.high);
  runs_.push_back(std::move(run));
}

double Lathe::radius_between(double low, double high) const {
  double radius = 0;
  for (const Run& run : runs_) {
    for (const Segment& s : run.segments) {
      if (s.to.y >= low && s.from.y <= high) radius = std::max({radius, s.from.x, s.to.x});
    }
  }
  return radius;
}

LocalHit Lathe::intersect(const Ray& ray, double limit) const {
  const Vec3 d = ray.direction;
  const double flat = d.x * d.x + d.z * d.z;
  const double shift = flat > 1e-12 ? -(ray.origin.x * d.x + ray.origin.z * d.z) / flat : 0;
  const Vec3 o = ray.at(shift);  // point of the ray nearest to the axis
  const double apart = o.x * o.x + o.z * o.z, reach = radius_ * radius_ - apart;
  if (reach < 0) return {};
  const double half = flat > 1e-12 ? std::sqrt(reach / flat) : infinity;
  const double near_t = nearest_t - shift;
  const double ya = std::max(low_, o.y - std::abs(d.y) * half),
               yb = std::min(high_, o.y + std::abs(d.y) * half);

  double best = limit - shift;
  const Segment* found = nullptr;
  const auto meet = [&](const Segment& s) {
    const double bottom = std::min(s.from.y, s.to.y), top = std::max(s.from.y, s.to.y);
    const double outer = std::max(s.from.x, s.to.x), inner = std::min(s.from.x, s.to.x);
    if (top < ya || bottom > yb || outer * outer < apart) return;
    const double rise = s.to.y - s.from.y;
    if (std::abs(rise) < 1e-9) {
      const double t = (s.from.y - o.y) / d.y, r2 = apart + t * t * flat;
      if (t > near_t && t < best && r2 >= inner * inner && r2 <= outer * outer) {
        best = t;
        found = &s;
      }
      return;
    }
    // x^2 + z^2 = (m + k t)^2, with the radius of the cone linear in the height.
    const double slope = (s.to.x - s.from.x) / rise;
    const double m = s.from.x + slope * (o.y - s.from.y), k = slope * d.y;
    const double a = flat - k * k, b = -m * k, c = apart - m * m;
    const double discriminant = b * b - a * c;
    if (discriminant < 0 || std::abs(a) < 1e-12) return;
    const double root = std::sqrt(discriminant);
    for (const double t : {(-b - root) / a, (-b + root) / a}) {
      const double y = o.y + t * d.y;
      if (t > near_t && t < best && y >= bottom - seam && y <= top + seam && m + k * t >= 0) {
        best = t;
        found = &s;
      }
    }
  };
  for (const Run& run : runs_) {
    if (run.high < ya || run.low > yb || run.radius * run.radius < apart) continue;
    for (const Segment& s : run.segments) meet(s);
  }
  if (found == nullptr) return {};

  const Vec3 p = o + d * best;
  const Segment& s = *found;
  const double rise = s.to.y - s.from.y, run = s.to.x - s.from.x, radius = std::hypot(p.x, p.z);
  const double along =
      saturate(((p.y - s.from.y) * rise + (radius - s.from.x) * run) / (rise * rise + run * run));
  const double out = mix(s.normal_from.x, s.normal_to.x, along),
               up = mix(s.normal_from.y, s.normal_to.y, along);
  const double inverse = radius > 0 ? 1 / radius : 0;
  return {best + shift, normalize({p.x * inverse * out, up, p.z * inverse * out})};
}

Bounds bounds_of(const Object& object) {
  const Bounds local = local_bounds(object.shape);
  Bounds world;
  for (int corner = 0; corner < 8; ++corner) {
    const Vec3 p{(corner & 1) != 0 ? local.high.x : local.low.x,
                 (corner & 2) != 0 ? local.high.y : local.low.y,
                 (corner & 4) != 0 ? local.high.z : local.low.z};
    world.include(object.position + object.turn.apply(p));
  }
  return world;
}

Hierarchy::Hierarchy(std::span<const Object> objects) {
  for (const Object& object : objects) order_.push_back(&object);
  if (!order_.empty()) build(0, order_.size());
}

void Hierarchy::build(std::size_t first, std::size_t last) {
  const std::size_t index = nodes_.size();
  nodes_.emplace_back();
  for (std::size_t i = first; i < last; ++i) nodes_[index].bounds.include(bounds_of(*order_[i]));
  if (last - first <= leaf_size) {
    nodes_[index].first = first;
    nodes_[index].count = last - first;
    return;
  }
  const std::size_t middle = split(first, last);
  build(first, middle);
  nodes_[index].first = nodes_.size();
  build(middle, last);
}

std::size_t Hierarchy::split(std::size_t first, std::size_t last) {
  const auto begin = order_.begin() + static_cast<std::ptrdiff_t>(first);
  const auto end = order_.begin() + static_cast<std::ptrdiff_t>(last);
  const auto sort_along = [&](double Vec3::*axis) {
    const auto key = [&](const Object* object) {
      const Bounds b = bounds_of(*object);
      return b.low.*axis + b.high.*axis;
    };
    std::vector<std::tuple<double, std::size_t, const Object*>> keyed;  // equal keys keep their order
    std::for_each(begin, end,
                  [&](const Object* object) { keyed.emplace_back(key(object), keyed.size(), object); });
    std::ranges::sort(keyed);
    std::ranges::transform(keyed, begin, [](const auto& each) { return std::get<const Object*>(each); });
  };

  double least = infinity;
  double Vec3::*best_axis = &Vec3::x;
  std::size_t best = first + 1;
  for (double Vec3::*axis : {&Vec3::x, &Vec3::y, &Vec3::z}) {
    sort_along(axis);
    std::vector<double> right(last - first);
    Bounds bounds;
    for (std::size_t i = last - 1; i > first; --i) {
      bounds.include(bounds_of(*order_[i]));
      right[i - first] = bounds.area() * static_cast<double>(last - i);
    }
    bounds = {};
    for (std::size_t i = first + 1; i < last; ++i) {
      bounds.include(bounds_of(*order_[i - 1]));
      const double cost = bounds.area() * static_cast<double>(i - first) + right[i - first];
      if (cost < least) {
        least = cost;
        best_axis = axis;
        best = i;
      }
    }
  }
  sort_along(best_axis);
  return best;
}

template <class Visit>
void Hierarchy::walk(const Ray& ray, double& limit, Visit visit) const {
  if (nodes_.empty()) return;
  const Vec3 inverse{1 / ray.direction.x, 1 / ray.direction.y, 1 / ray.direction.z};
  struct Entry {
    std::size_t node;
    double enter;
  };
  std::array<Entry, max_depth> stack{};
  std::size_t depth = 0;
  stack[depth++] = {0, nodes_[0].bounds.enter(ray.origin, inverse, limit)};
  while (depth > 0) {
    const Entry entry = stack[--depth];
    if (entry.enter >= limit) continue;
    const Node& node = nodes_[entry.node];
    if (node.count == 0) {
      Entry nearer{entry.node + 1, nodes_[entry.node + 1].bounds.enter(ray.origin, inverse, limit)};
      Entry farther{node.first, nodes_[node.first].bounds.enter(ray.origin, inverse, limit)};
      if (farther.enter < nearer.enter) std::swap(nearer, farther);
      if (farther.enter < limit) stack[depth++] = farther;
      if (nearer.enter < limit) stack[depth++] = nearer;
      continue;
    }
    for (std::size_t i = node.first; i < node.first + node.count; ++i) {
      if (visit(*order_[i])) return;
    }
  }
}

Hit Hierarchy::intersect(const Ray& ray) const {
  Hit hit;
  walk(ray, hit.t, [&](const Object& object) {
    const LocalHit local = scene::intersect(object, ray, hit.t);
    if (local.t < hit.t) {
      hit.t = local.t;
      hit.object = &object;
      hit.local_normal = local.normal;
    }
    return false;
  });
  if (hit.object == nullptr) return hit;
  hit.position = ray.at(hit.t);
  hit.local = hit.object->turn.undo(hit.position - hit.object->position);
  hit.normal = hit.object->turn.apply(hit.local_normal);
  return hit;
}

bool Hierarchy::occluded(const Ray& ray, double limit) const {
  bool found = false;
  walk(ray, limit, [&](const Object& object) {
    found = scene::intersect(object, ray, limit).t < limit;
    return found;
  });
  return found;
}

}  // namespace scene

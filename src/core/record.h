#pragma once
// Builders of records: of a filter from what it says of itself, of parameters and side inputs from members of
// its parameter struct.

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/prepared_filter.h"
#include "satin/filter.h"

namespace satin::record {

template <class P>
P& as(void* parameters) {
  return *static_cast<P*>(parameters);
}
template <class P>
const P& as(const void* parameters) {
  return *static_cast<const P*>(parameters);
}

struct Text {
  std::string name;
  std::string unit;
  std::string help;
};

template <class P>
ParameterRecord finish(ParameterRecord record, Text text) {
  record.name = std::move(text.name);
  record.unit = std::move(text.unit);
  record.help = std::move(text.help);
  const P defaults{};
  record.default_text = record.get(&defaults);
  return record;
}

/// A number, or an optional number that is not set unless told.
template <class P, class Member>
ParameterRecord real(Member P::*member, double minimum, double maximum, Text text) {
  ParameterRecord record;
  record.kind = ParameterKind::real;
  record.minimum = minimum;
  record.maximum = maximum;
  record.set = [member, minimum, maximum, name = text.name](void* p, std::string_view value) {
    as<P>(p).*member = parse_real(name, value, minimum, maximum);
  };
  record.get = [member](const void* p) {
    if constexpr (std::is_same_v<Member, std::optional<double>>) {
      return (as<P>(p).*member) ? print_real(*(as<P>(p).*member)) : std::string();
    } else {
      return print_real(as<P>(p).*member);
    }
  };
  return finish<P>(std::move(record), std::move(text));
}

/// A whole number, or an optional one that is not set unless told.
template <class P, class Member>
ParameterRecord integer(Member P::*member, int minimum, int maximum, Text text) {
  ParameterRecord record;
  record.kind = ParameterKind::integer;
  record.minimum = minimum;
  record.maximum = maximum;
  record.set = [member, minimum, maximum, name = text.name](void* p, std::string_view value) {
    as<P>(p).*member = static_cast<int>(parse_integer(name, value, minimum, maximum));
  };
  record.get = [member](const void* p) {
    if constexpr (std::is_same_v<Member, std::optional<int>>) {
      return (as<P>(p).*member) ? std::to_string(*(as<P>(p).*member)) : std::string();
    } else {
      return std::to_string(as<P>(p).*member);
    }
  };
  return finish<P>(std::move(record), std::move(text));
}

template <class P>
ParameterRecord flag(bool P::*member, Text text) {
  ParameterRecord record;
  record.kind = ParameterKind::flag;
  record.set = [member, name = text.name](void* p, std::string_view value) {
    as<P>(p).*member = parse_flag(name, value);
  };
  record.get = [member](const void* p) { return std::string(as<P>(p).*member ? "true" : "false"); };
  return finish<P>(std::move(record), std::move(text));
}

/// An enumeration, or an optional one; `choices` are the names of the enumerators, in order from 0.
template <class P, class Member>
ParameterRecord choice(Member P::*member, const std::vector<std::string>& choices, Text text) {
  ParameterRecord record;
  record.kind = ParameterKind::choice;
  record.choices = choices;
  record.set = [member, choices, name = text.name](void* p, std::string_view value) {
    if constexpr (std::is_enum_v<Member>) {
      as<P>(p).*member = static_cast<Member>(parse_choice(name, value, choices));
    } else {
      as<P>(p).*member = static_cast<typename Member::value_type>(parse_choice(name, value, choices));
    }
  };
  record.get = [member, choices](const void* p) {
    const Member& value = as<P>(p).*member;
    if constexpr (std::is_enum_v<Member>) {
      return choices[static_cast<std::size_t>(value)];
    } else {
      return value ? choices[static_cast<std::size_t>(*value)] : std::string();
    }
  };
  return finish<P>(std::move(record), std::move(text));
}

template <class P>
ParameterRecord radius(Radius P::*member, double minimum, double maximum, Text text) {
  ParameterRecord record;
  record.kind = ParameterKind::radius;
  record.minimum = minimum;
  record.maximum = maximum;
  record.set = [member, minimum, maximum, name = text.name](void* p, std::string_view value) {
    as<P>(p).*member = parse_radius(name, value, minimum, maximum);
  };
  record.get = [member](const void* p) { return print_radius(as<P>(p).*member); };
  return finish<P>(std::move(record), std::move(text));
}

/// A radius in whole pixels.
template <class P>
ParameterRecord whole_radius(Radius P::*member, double minimum, double maximum, Text text) {
  const std::string name = text.name;
  ParameterRecord record = radius(member, minimum, maximum, std::move(text));
  record.whole = true;
  record.set = [member, minimum, maximum, name](void* p, std::string_view value) {
    as<P>(p).*member = parse_whole_radius(name, value, minimum, maximum);
  };
  return record;
}

template <class P>
ParameterRecord boxes(std::vector<PixelBox> P::*member, Text text) {
  ParameterRecord record;
  record.kind = ParameterKind::boxes;
  record.set = [member, name = text.name](void* p, std::string_view value) {
    as<P>(p).*member = parse_boxes(name, value);
  };
  record.get = [member](const void* p) { return print_boxes(as<P>(p).*member); };
  return finish<P>(std::move(record), std::move(text));
}

template <class P>
ParameterRecord colour(Colour P::*member, Text text) {
  ParameterRecord record;
  record.kind = ParameterKind::colour;
  record.set = [member, name = text.name](void* p, std::string_view value) {
    as<P>(p).*member = parse_colour(name, value);
  };
  record.get = [member](const void* p) { return print_colour(as<P>(p).*member); };
  return finish<P>(std::move(record), std::move(text));
}

/// A place, or an optional place that is not set unless told.
template <class P, class Member>
ParameterRecord point(Member P::*member, Text text) {
  ParameterRecord record;
  record.kind = ParameterKind::point;
  record.set = [member, name = text.name](void* p, std::string_view value) {
    as<P>(p).*member = parse_point(name, value);
  };
  record.get = [member](const void* p) {
    if constexpr (std::is_same_v<Member, std::optional<Point>>) {
      return (as<P>(p).*member) ? print_point(*(as<P>(p).*member)) : std::string();
    } else {
      return print_point(as<P>(p).*member);
    }
  };
  return finish<P>(std::move(record), std::move(text));
}

/// A parameter of a struct that is itself a member of the filter's parameters.
template <class P, class Part>
ParameterRecord within(Part P::*part, ParameterRecord record) {
  record.set = [part, set = std::move(record.set)](void* p, std::string_view value) {
    set(&(as<P>(p).*part), value);
  };
  record.get = [part, get = std::move(record.get)](const void* p) { return get(&(as<P>(p).*part)); };
  return record;
}

/// A side input, from the member that holds its view.
template <class P>
InputRecord side(ImageView P::*member, InputRecord record) {
  record.view = [member](const void* p) -> const ImageView& { return as<P>(p).*member; };
  return record;
}

/// A mask that blends the result with the picture.
template <class P>
InputRecord blend_mask(ImageView P::*member = &P::mask) {
  return side(member, {"mask", Role::mask, "blend weight; 0 leaves the pixel's bytes alone"});
}

/// What the function says for pictures of one shape, completed: `shapes` are as those of FilterRecord::plan.
template <class P>
using Planner = FilterPlan (*)(const Device&, std::span<const Shape> shapes, const P&);

/// The shapes with one for every input of the filter; width 0 for those that are not given.
[[nodiscard]] std::vector<Shape> completed(std::span<const Shape> shapes, std::size_t sides);

/// The plan of a filter whose inputs have these completed shapes, and whose mask stands at `mask`.
[[nodiscard]] Plan plan_with(const Device& device, FilterPlan filter, std::vector<Shape> shapes,
                             std::size_t mask);

/// Where the picture is blended by a mask; 0: nowhere.
[[nodiscard]] std::size_t mask_of(std::span<const InputRecord> inputs);

/// How far from a pixel its result looks.
template <class P>
auto reach(double (*pixels)(const P&, const Shape&)) {
  return [pixels](const void* parameters, const Shape& shape) { return pixels(as<P>(parameters), shape); };
}

/// The whole record, from its words and from what the filter tells its plan; without a reach the filter looks
/// at all of the picture.
template <class P>
FilterRecord of(Planner<P> planner, FilterRecord record) {
  record.defaults = [] { return std::make_shared<P>(); };
  record.plan = [planner, sides = record.inputs.size(), mask = mask_of(record.inputs)](
                    const Device& device, std::span<const Shape> shapes, const void* parameters) {
    std::vector<Shape> all = completed(shapes, sides);
    validate(all.front());
    FilterPlan filter = planner(device, all, as<P>(parameters));
    return plan_with(device, std::move(filter), std::move(all), mask);
  };
  if (!record.reach)
    record.reach = [](const void*, const Shape& shape) {
      return static_cast<double>(std::max(shape.width, shape.height));
    };
  return record;
}

/// The filter's own functions: side inputs are the views in the parameters.
[[nodiscard]] Plan plan(const FilterRecord& record, const Device& device, const Shape& shape,
                        const void* parameters);
[[nodiscard]] Image run(const FilterRecord& record, const Device& device, const ImageView& image,
                        const void* parameters);

/// The names of Border, in the order of its enumerators.
inline std::vector<std::string> border_names() {
  return {"shrink", "clamp", "reflect", "mirror", "wrap", "constant"};
}
/// Those without constant.
inline std::vector<std::string> inner_border_names() {
  return {"shrink", "clamp", "reflect", "mirror", "wrap"};
}
/// The names of Space, in the order of its enumerators.
inline std::vector<std::string> space_names() { return {"linear", "encoded"}; }

}  // namespace satin::record

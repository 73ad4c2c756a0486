#pragma once
// Builders of records: record::of() makes a filter's record; record::real(), length(), choice() ... make the
// records of its parameters, from members of its parameter struct, and side() those of its side inputs.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/prepared_filter.h"
#include "core/side_inputs.h"
#include "satin/filter.h"
#include "satin/json.h"

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
  std::string instead_of{};
  ParameterRole role = ParameterRole::own;
};

/// Sets the usual range that suits most parameters: 0 to 100 pixels, 0 to 100 percent, all of a narrow range,
/// and otherwise 0 to 1. The others state theirs by usual().
void set_usual_range(ParameterRecord& record);

/// Sets the usual range of a parameter.
inline ParameterRecord usual(double minimum, double maximum, ParameterRecord record) {
  record.usual_minimum = minimum;
  record.usual_maximum = maximum;
  record.scale = Scale::linear;
  return record;
}
/// Sets the usual range of a parameter whose slider is logarithmic.
inline ParameterRecord usual_decades(double minimum, double maximum, ParameterRecord record) {
  record = usual(minimum, maximum, std::move(record));
  record.scale = Scale::logarithmic;
  return record;
}

template <class P>
ParameterRecord finish(ParameterRecord record, Text text) {
  record.name = std::move(text.name);
  record.unit = std::move(text.unit);
  record.help = std::move(text.help);
  record.instead_of = std::move(text.instead_of);
  record.role = text.role;
  const P defaults{};
  record.default_text = record.get(&defaults);
  return record;
}

/// The type of a member that may be optional.
template <class Member>
struct Plain {
  using type = Member;
};
template <class Value>
struct Plain<std::optional<Value>> {
  using type = Value;
};
template <class Value, class Print>
std::string printed(const Value& value, const Print& print) {
  return print(value);
}
template <class Value, class Print>
std::string printed(const std::optional<Value>& value, const Print& print) {
  return value ? print(*value) : std::string();
}

/// Puts a parameter that people rarely change into the last group.
inline ParameterRecord seldom(ParameterRecord record, int rank = 0) {
  record.group = "more";
  record.rank = rank;
  return record;
}

/// Lets commands accept several values of a parameter, a series.
inline ParameterRecord series(ParameterRecord record) {
  record.varies = true;
  return record;
}

/// A parameter of any kind, also if its member is optional. parse(name, text) returns the member's value,
/// print(value) its text; an optional member without a value has an empty text.
template <class P, class Member, class Parse, class Print>
ParameterRecord field(ParameterKind kind, Member P::*member, Text text, Parse parse, Print print) {
  ParameterRecord record;
  record.kind = kind;
  record.set = [member, parse, name = text.name](void* p, std::string_view value) {
    as<P>(p).*member = value.empty() ? P{}.*member : parse(name, value);
  };
  record.get = [member, print](const void* p) { return printed(as<P>(p).*member, print); };
  return finish<P>(std::move(record), std::move(text));
}

/// A parameter of a kind with a minimum and a maximum.
template <class P, class Member, class Number, class Parse, class Print>
ParameterRecord ranged(ParameterKind kind, Member P::*member, Number minimum, Number maximum, Text text,
                       Parse parse, Print print) {
  const auto in_range = [=](const std::string& name, std::string_view value) {
    return parse(name, value, minimum, maximum);
  };
  ParameterRecord record = field(kind, member, std::move(text), in_range, print);
  record.minimum = static_cast<double>(minimum);
  record.maximum = static_cast<double>(maximum);
  set_usual_range(record);
  return record;
}

template <class P, class Member>
ParameterRecord real(Member P::*member, double minimum, double maximum, Text text) {
  return ranged(ParameterKind::real, member, minimum, maximum, std::move(text), parse_real, print_real);
}

template <class P>
ParameterRecord reals(std::vector<double> P::*member, double minimum, double maximum, Text text) {
  return ranged(ParameterKind::reals, member, minimum, maximum, std::move(text), parse_reals, print_reals);
}

/// An integer. The member may be optional; a default above the maximum also means "not set".
template <class P, class Member>
ParameterRecord integer(Member P::*member, long minimum, long maximum, Text text) {
  using Value = typename Plain<Member>::type;
  const auto parse = [](const auto&... arguments) { return static_cast<Value>(parse_integer(arguments...)); };
  const auto print = [maximum](Value value) {
    return value > maximum ? std::string() : std::to_string(value);
  };
  ParameterRecord record =
      ranged(ParameterKind::integer, member, minimum, maximum, std::move(text), parse, print);
  record.whole = true;
  return record;
}

/// The side of a square window, an odd number of pixels.
template <class P>
ParameterRecord window(int P::*member, int maximum) {
  ParameterRecord record = usual_decades(
      3, 301, integer(member, 1, maximum, {"window", "px", "side of the window, an odd number"}));
  record.odd = true;
  return record;
}

template <class P, class Member>
ParameterRecord length(Member P::*member, double minimum, double maximum, Text text) {
  return ranged(ParameterKind::length, member, minimum, maximum, std::move(text), parse_length, print_length);
}

template <class P>
ParameterRecord flag(bool P::*member, Text text) {
  return field(ParameterKind::flag, member, std::move(text), parse_flag,
               [](bool value) { return std::string(value ? "true" : "false"); });
}

/// An enumeration. The member may be optional. `choices` are the names of the enumerators, in order from 0.
template <class P, class Member>
ParameterRecord choice(Member P::*member, const std::vector<std::string>& choices, Text text) {
  using Value = typename Plain<Member>::type;
  const auto parse = [choices](const std::string& name, std::string_view value) {
    return static_cast<Value>(parse_choice(name, value, choices));
  };
  const auto print = [choices](Value value) { return choices[static_cast<std::size_t>(value)]; };
  ParameterRecord record = field(ParameterKind::choice, member, std::move(text), parse, print);
  record.choices = choices;
  return record;
}

template <class P>
ParameterRecord radius(Radius P::*member, double minimum, double maximum, Text text) {
  return ranged(ParameterKind::radius, member, minimum, maximum, std::move(text), parse_radius, print_radius);
}

template <class P>
ParameterRecord whole_radius(Radius P::*member, double minimum, double maximum, Text text) {
  ParameterRecord record = ranged(ParameterKind::radius, member, minimum, maximum, std::move(text),
                                  parse_whole_radius, print_radius);
  record.whole = true;
  return record;
}

template <class P>
ParameterRecord boxes(std::vector<PixelBox> P::*member, Text text) {
  return field(ParameterKind::boxes, member, std::move(text), parse_boxes, print_boxes);
}

template <class P>
ParameterRecord colour(Colour P::*member, Text text) {
  return field(ParameterKind::colour, member, std::move(text), parse_colour, print_colour);
}

template <class P, class Member>
ParameterRecord point(Member P::*member, Text text) {
  return field(ParameterKind::point, member, std::move(text), parse_point, print_point);
}

template <class P>
ParameterRecord size(TargetSize P::*member, Text text) {
  return field(ParameterKind::size, member, std::move(text), parse_size, print_size);
}

/// A box. The member may be optional.
template <class P, class Member>
ParameterRecord box(Member P::*member, Text text) {
  return field(ParameterKind::box, member, std::move(text), parse_box, print_box);
}

/// A ratio of two numbers. The member may be optional.
template <class P, class Member>
ParameterRecord ratio(Member P::*member, Text text) {
  return field(ParameterKind::ratio, member, std::move(text), parse_ratio, print_ratio);
}

/// A range of two numbers. The member is optional.
template <class P, class Member>
ParameterRecord range(Member P::*member, double minimum, double maximum, Text text) {
  return ranged(ParameterKind::range, member, minimum, maximum, std::move(text), parse_range, print_range);
}

template <class P>
ParameterRecord space(Space P::*member, const char* help) {
  return seldom(choice(member, {"linear", "encoded"}, {"space", "", help, "", ParameterRole::space}));
}

/// The border: any of them, or (inner_border) one that invents no value.
template <class P>
ParameterRecord border(Border P::*member) {
  return seldom(choice(member, {"shrink", "clamp", "reflect", "mirror", "wrap", "constant"},
                       {"border", "", "what the window sees outside the picture"}));
}
template <class P>
ParameterRecord border_value(double P::*member) {
  return seldom(real(
      member, -1e30, 1e30,
      {"border-value", "", "value outside the picture with border constant, from 0 (black) to 1 (white)"}));
}
template <class P>
ParameterRecord inner_border(Border P::*member,
                             const char* help = "what the window sees outside the picture") {
  return seldom(choice(member, {"shrink", "clamp", "reflect", "mirror", "wrap"}, {"border", "", help}));
}

/// A parameter of a struct that is a member of the filter's parameters.
template <class P, class Part>
ParameterRecord within(Part P::*part, ParameterRecord record) {
  record.set = [part, set = std::move(record.set)](void* p, std::string_view value) {
    set(&(as<P>(p).*part), value);
  };
  record.get = [part, get = std::move(record.get)](const void* p) { return get(&(as<P>(p).*part)); };
  return record;
}

/// A side input, whose view is a member of the parameters.
template <class P>
InputRecord side(ImageView P::*member, InputRecord record) {
  record.view = [member](const void* p) -> const ImageView& { return as<P>(p).*member; };
  if (record.role == Role::aperture) record.group = "lens-shape";
  if (record.role == Role::depth) record.group = "main";
  return record;
}

template <class P>
InputRecord blend_mask(ImageView P::*member = &P::mask) {
  return side(member, {"mask", Role::mask,
                       "where to filter: white fully, grey in part, black leaves the bytes alone"});
}

/// Describes the filter for pictures of one shape. `shapes` are completed().
template <class P>
using Planner = FilterPlan (*)(const Device&, std::span<const Shape> shapes, const P&);

/// Returns one shape for every input of the filter, with width 0 for inputs that are not given.
[[nodiscard]] OfInputs<Shape> completed(std::span<const Shape> shapes, std::size_t sides);

/// Returns the index of the input that blends the result with the picture; 0 if there is none.
[[nodiscard]] std::size_t mask_of(std::span<const InputRecord> inputs);

/// Throws Error(usage), since a filter that makes JSON has no plan.
[[noreturn]] Plan refuse_plan(const Device& device, std::span<const Shape> shapes, const void* parameters);

/// Returns the reach of a filter that reads the whole picture.
inline double everywhere(const void* /*parameters*/, const Shape& shape) { return longer_side(shape); }

/// Converts a function of the parameters to FilterRecord::reach.
template <class P>
auto reach(double (*pixels)(const P&, const Shape&)) {
  return [pixels](const void* parameters, const Shape& shape) { return pixels(as<P>(parameters), shape); };
}

/// Completes the record of a filter that makes a picture. Without a reach, the filter reads the whole
/// picture.
template <class P>
FilterRecord of(Planner<P> planner, FilterRecord record) {
  record.defaults = [] { return std::make_shared<P>(); };
  record.describe = [planner, sides = record.inputs.size(), mask = mask_of(record.inputs)](
                        const Device& device, std::span<const Shape> shapes, const void* parameters) {
    const OfInputs<Shape> all = completed(shapes, sides);
    validate(all.front());
    const auto filter = std::make_shared<FilterPlan>(planner(device, all, as<P>(parameters)));
    filter->inputs = all;
    filter->mask = mask;
    return filter;
  };
  record.plan = [describe = record.describe](const Device& device, std::span<const Shape> shapes,
                                             const void* parameters) {
    return make_plan(device, *describe(device, shapes, parameters));
  };
  if (!record.reach) record.reach = everywhere;
  return record;
}

/// Completes the record of a filter that makes JSON. `describe` writes the text of FilterRecord::analyse.
template <class P>
FilterRecord of(void (*describe)(JsonWriter&, const Device&, std::span<const NamedView> pictures, const P&),
                FilterRecord record) {
  record.defaults = [] { return std::make_shared<P>(); };
  record.output = OutputKind::json;
  record.shape = OutputShape::other;
  record.reach = everywhere;
  record.plan = refuse_plan;
  record.analyse = [describe](const Device& device, std::span<const NamedView> pictures, const void* p) {
    JsonWriter json;
    describe(json, device, pictures, as<P>(p));
    return json.text();
  };
  return record;
}

}  // namespace satin::record

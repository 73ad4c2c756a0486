#include "tests/oracles/filter_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "satin/error.h"
#include "tests/oracles/blur_case.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

constexpr std::array<std::array<int, 2>, 9> sizes = {
    {{1, 1}, {1, 7}, {7, 1}, {31, 33}, {32, 32}, {33, 31}, {1025, 3}, {2, 2}, {40, 70}}};

Type type_of(Role role, std::uint64_t turn) {
  if (role == Role::mask || role == Role::subject) return turn % 2 == 0 ? Type::u8 : Type::u16;
  return turn % 3 == 0 ? Type::u8 : turn % 3 == 1 ? Type::u16 : Type::f32;
}

FilterCase case_of(const FilterRecord& filter, unsigned side_inputs, const std::array<int, 2>& size,
                   Random& random) {
  static const std::vector<Format> formats = every_format();
  FilterCase filter_case;
  filter_case.filter = &filter;
  filter_case.side_inputs = side_inputs;
  const Format& format = random.pick(formats);
  filter_case.shape = {size[0], size[1], format.channels, format.type, format.alpha};
  filter_case.seed = random.next();
  return filter_case;
}

}  // namespace

Parameters FilterCase::parameters() const {
  Parameters result(*filter);
  for (const auto& [name, text] : settings) result.set(name, text);
  // Masks of noise may be 0 everywhere, which `redact` otherwise refuses.
  if (filter->find_parameter("allow-nothing") != nullptr) result.set("allow-nothing", "true");
  for (const ParameterRecord& parameter : filter->parameters)  // a size has no default
    if (parameter.kind == ParameterKind::size && result.get(parameter.name).empty())
      result.set(parameter.name, "20x13");
  for (const ParameterRecord& parameter : filter->parameters)  // nor has an aspect or the box in its place
    if (parameter.kind == ParameterKind::ratio && result.get(parameter.name).empty() &&
        result.get(parameter.instead_of).empty())
      result.set(parameter.name, "3:2");
  return result;
}

namespace {

/// Returns depth without unknown values, from a quarter to three quarters of the range, so not as near as a
/// lens.
Image random_depth(std::int64_t width, std::int64_t height, int channels, Type type, std::uint64_t seed) {
  Random random(seed);
  Image image({width, height, channels, type});
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x)
      for (int c = 0; c < channels; ++c)
        set_fraction(image.view(), x, y, c, 0.25 + static_cast<double>(random.below(501)) / 1000);
  return image;
}

Image side_image(Role role, const Shape& shape, int depth_channels, std::uint64_t turn, std::uint64_t seed) {
  const Type type = type_of(role, turn);
  return role == Role::depth ? random_depth(shape.width, shape.height, depth_channels, type, seed)
                             : random_map(shape.width, shape.height, type, seed);
}

}  // namespace

std::vector<Image> FilterCase::side_images() const {
  std::vector<Image> images;
  for (std::size_t i = 0; i < filter->inputs.size(); ++i) {
    const bool used = (side_inputs >> i & 1) != 0;
    images.push_back(used ? side_image(filter->inputs[i].role, shape, depth_channels, seed + i, seed + 10 + i)
                          : Image());
  }
  return images;
}

Plan FilterCase::plan(const Device& device, const Shape& picture) const {
  std::vector<Shape> shapes = {picture};
  for (const Image& image : side_images()) shapes.push_back(image.shape());
  return satin::plan(device, parameters(), shapes);
}

bool accepted(const FilterCase& filter_case) {
  try {
    static_cast<void>(filter_case.plan(device_under_test(), filter_case.shape));
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage) << error.what();
    EXPECT_GT(std::string(error.what()).size(), 10U);
    return false;
  }
}

std::string describe(const FilterCase& filter_case) {
  std::string text = filter_case.filter->name + " of " + describe(filter_case.shape) + ", alpha " +
                     std::to_string(static_cast<int>(filter_case.shape.alpha));
  for (const auto& [name, value] : filter_case.settings)
    text.append(", ").append(name).append("=").append(value);
  for (std::size_t i = 0; i < filter_case.filter->inputs.size(); ++i)
    if ((filter_case.side_inputs >> i & 1) != 0) text += ", with " + filter_case.filter->inputs[i].name;
  return text + ", seed " + std::to_string(filter_case.seed);
}

std::vector<std::string> values_of(const ParameterRecord& parameter) {
  std::vector<std::string> values;
  const auto add = [&](double value) {
    if (std::isfinite(value)) values.push_back(print_real(value));
  };
  if (parameter.name == "focus") return {"0.5", "nearest"};  // random_depth() has no value far from 0.5
  switch (parameter.kind) {
    case ParameterKind::choice:
      return parameter.choices;
    case ParameterKind::flag:
      return {"true", "false"};
    case ParameterKind::boxes:
      return {"0,0,1,1", "-2,0,3,1;0,0,1,1"};
    case ParameterKind::colour:
      return {parameter.default_text, "#ff8001"};
    case ParameterKind::point:
      return {"0,0", "50%,50%", "100%,0%"};
    case ParameterKind::range:
      return {"1:0", "0.9:0.1"};
    case ParameterKind::size:
      return {"20", "50%", "24x18", "13x", "x18"};
    case ParameterKind::box:
      return {"0,0,1,1", "0,0,100%,100%", "25%,50%,50%,50%", "0%,12.5%,1,80%"};
    case ParameterKind::ratio:
      return {"1:1", "2.39:1", "1:7"};
    case ParameterKind::reals:
      return {parameter.default_text, "0,12.5,100", "50"};
    case ParameterKind::length:
    case ParameterKind::radius:
      values = {parameter.kind == ParameterKind::length ? "20%" : parameter.whole ? "2x5" : "2.5x0.25", "3%"};
      [[fallthrough]];
    case ParameterKind::real:
    case ParameterKind::integer:
      add(parameter.minimum);
      add(parameter.maximum);
      if (!parameter.default_text.empty()) values.push_back(parameter.default_text);
      if (parameter.minimum <= 3 && parameter.maximum >= 3) values.emplace_back("3");
      if (parameter.minimum <= 1 && parameter.maximum >= 1) values.emplace_back("1");
  }
  return values;
}

namespace {

/// Returns a value in the middle of the parameter's range; empty for parameters that are not numbers.
std::string moderate_value(const ParameterRecord& parameter) {
  if (parameter.kind != ParameterKind::real && parameter.kind != ParameterKind::length &&
      parameter.kind != ParameterKind::radius)
    return {};
  return print_real(std::clamp(4.5, parameter.minimum, parameter.maximum));
}

/// Whether the filter accepts the case, perhaps after adding what its settings or side inputs need: a depth
/// image of several channels, or a parameter without a default, such as the largest radius of a map.
bool completed(FilterCase& filter_case) {
  if (accepted(filter_case)) return true;
  if (filter_case.side_inputs == 0) return false;
  FilterCase tried = filter_case;
  tried.depth_channels = 4;
  if (accepted(tried)) {
    filter_case = tried;
    return true;
  }
  for (const ParameterRecord& parameter : filter_case.filter->parameters) {
    const std::string value = moderate_value(parameter);
    if (!parameter.default_text.empty() || value.empty()) continue;
    tried = filter_case;
    tried.settings.insert(tried.settings.begin(), {parameter.name, value});
    if (!accepted(tried)) continue;
    filter_case = tried;
    return true;
  }
  return false;
}

/// Whether the focus is outside the depth, which only a run finds out.
bool lacks_focus(const FilterCase& filter_case) {
  const auto& settings = filter_case.settings;
  if (std::none_of(settings.begin(), settings.end(), [](const auto& s) { return s.first == "focus"; }))
    return false;
  const Image picture = random_picture(filter_case.shape, filter_case.seed);
  const std::vector<Image> sides = filter_case.side_images();
  std::vector<ImageView> views{picture.view()};
  for (const Image& side : sides) views.push_back(side.view());
  try {
    Plan plan = filter_case.plan(device_under_test(), filter_case.shape);
    static_cast<void>(run_plan(device_under_test(), plan, views));
    return false;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("values from"), std::string::npos) << error.what();
    return true;
  }
}

using Settings = std::vector<std::pair<std::string, std::string>>;

std::vector<Settings> settings_of(const FilterRecord& filter) {
  std::vector<Settings> settings = {{}};
  for (const ParameterRecord& parameter : filter.parameters)
    for (const std::string& value : values_of(parameter)) settings.push_back({{parameter.name, value}});
  return settings;
}

}  // namespace

void for_each_filter_case(const FilterRecord& filter, const std::function<void(const FilterCase&)>& check,
                          std::uint64_t thinning) {
  Random random(2026);
  const std::vector<Settings> settings = settings_of(filter);
  constexpr std::size_t many_cases = 400;  // a filter of more parameters and inputs than others has a part
  thinning *= 1 + settings.size() * (sizes.size() << filter.inputs.size()) / many_cases;
  for (const Settings& setting : settings) {
    std::size_t done = 0;
    for (unsigned combination = 0; combination < 1U << filter.inputs.size(); ++combination)
      for (const auto& size : sizes) {
        FilterCase filter_case = case_of(filter, combination, size, random);
        filter_case.settings = setting;
        if (done > 0 && thinning > 1 && !random.one_in(thinning)) continue;
        SCOPED_TRACE(describe(filter_case));
        if (!completed(filter_case) || lacks_focus(filter_case)) continue;
        ++done;
        check(filter_case);
        if (testing::Test::HasFatalFailure()) return;
      }
    EXPECT_GT(done, 0U) << filter.name
                        << (setting.empty() ? "" : " " + setting[0].first + "=" + setting[0].second);
  }
}

std::vector<FilterCase> cases_of_inputs(const FilterRecord& filter, const std::array<int, 2>& size) {
  Random random(2026);
  std::vector<FilterCase> cases;
  for (unsigned combination = 0; combination < 1U << filter.inputs.size(); ++combination)
    for (int turn = 0; turn < 20; ++turn) {  // formats
      FilterCase filter_case = case_of(filter, combination, size, random);
      if (!completed(filter_case)) continue;
      cases.push_back(filter_case);
      break;
    }
  return cases;
}

FilterCase default_case(const FilterRecord& filter, const std::array<int, 2>& size) {
  Random random(2026);
  for (int turn = 0; turn < 100; ++turn)
    for (unsigned combination = 0; combination < 1U << filter.inputs.size(); ++combination) {
      FilterCase filter_case = case_of(filter, combination, size, random);
      if (completed(filter_case)) return filter_case;
    }
  ADD_FAILURE() << filter.name << " takes no picture at its defaults";
  return {};
}

}  // namespace satin::test

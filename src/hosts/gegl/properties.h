#pragma once
// Parameters of filters as properties of GObject, and values of these as texts of parameters.

#include <gegl-plugin.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "hosts/host.h"

namespace satin::host {

/// Returns the parameters of a filter in the order of a form. A number that may be negative or not set has
/// the record's smallest for "not set", beside which no slider is usable. Here it is the one before the usual
/// range, and smaller ones cannot be set.
[[nodiscard]] inline std::vector<Parameter> parameters_of_form(const FilterRecord& filter) {
  std::vector<Parameter> parameters = parameters_of(filter);
  for (Parameter& parameter : parameters) {
    const ParameterRecord& record = *parameter.record;
    if (record.is_number() && record.may_be_unset() && record.minimum < 0)
      parameter.minimum = parameter.initial = std::floor(record.usual_minimum) - 1;
  }
  std::stable_partition(parameters.begin(), parameters.end(),
                        [](const Parameter& parameter) { return parameter.record->group == "main"; });
  return parameters;
}

/// Returns a list of choices, whose values are their indices.
[[nodiscard]] inline GType type_of_choices(const FilterRecord& filter, const Parameter& parameter) {
  auto* const values =
      g_new0(GEnumValue, parameter.choices.size() + 1);  // GObject keeps it, and reads to the zeros
  for (std::size_t i = 0; i < parameter.choices.size(); ++i) {
    const char* const name = g_intern_string(parameter.choices[i].c_str());
    values[i] = {static_cast<int>(i), name, name};
  }
  return g_enum_register_static(("Satin-" + filter.name + "-" + parameter.record->name).c_str(), values);
}

[[nodiscard]] inline int clamped_to_int(double value) {
  constexpr auto least = std::numeric_limits<int>::min(), most = std::numeric_limits<int>::max();
  return static_cast<int>(std::clamp<double>(value, least, most));
}

/// Returns a new property for a parameter. Sliders cover the usual range and the initial number.
[[nodiscard]] inline GParamSpec* property_of(const FilterRecord& filter, const Parameter& parameter) {
  constexpr auto flags = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_CONSTRUCT);
  const ParameterRecord& record = *parameter.record;
  const char* const name = record.name.c_str();
  const std::string help = explanation_of(parameter);
  const double first = std::min(record.usual_minimum, parameter.initial);
  const double last = std::max(record.usual_maximum, parameter.initial);
  const double gamma = record.scale == Scale::logarithmic ? 3 : 1;
  GParamSpec* property = nullptr;
  switch (parameter.control) {
    case Control::number:
      property = gegl_param_spec_double(name, name, help.c_str(), parameter.minimum, parameter.maximum,
                                        parameter.initial, first, last, gamma, flags);
      break;
    case Control::whole:
      property = gegl_param_spec_int(name, name, help.c_str(), clamped_to_int(parameter.minimum),
                                     clamped_to_int(parameter.maximum), clamped_to_int(parameter.initial),
                                     clamped_to_int(first), clamped_to_int(last), gamma, flags);
      break;
    case Control::flag:
      return g_param_spec_boolean(name, name, help.c_str(), parameter.initial != 0, flags);
    case Control::choice:
      return gegl_param_spec_enum(name, name, help.c_str(), type_of_choices(filter, parameter),
                                  clamped_to_int(parameter.initial), flags);
    case Control::text:
      return gegl_param_spec_string(name, name, help.c_str(), FALSE, FALSE, record.default_text.c_str(),
                                    flags);
  }
  if (record.unit == "px") gegl_param_spec_set_property_key(property, "unit", "pixel-distance");
  return property;
}

/// Returns a property's value as the text of its parameter, empty if it is not set.
[[nodiscard]] inline std::string text_of(const Parameter& parameter, const GValue& value) {
  if (G_VALUE_HOLDS_DOUBLE(&value)) return text_of(parameter, g_value_get_double(&value));
  if (G_VALUE_HOLDS_INT(&value)) return text_of(parameter, g_value_get_int(&value));
  if (G_VALUE_HOLDS_BOOLEAN(&value)) return text_of(parameter, g_value_get_boolean(&value));
  if (G_VALUE_HOLDS_ENUM(&value)) return text_of(parameter, g_value_get_enum(&value));
  const char* const text = g_value_get_string(&value);
  return text == nullptr ? "" : text;
}

}  // namespace satin::host

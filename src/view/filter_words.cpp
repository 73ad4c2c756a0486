#include "view/filter_words.h"

#include <cmath>

#include "satin/filter.h"

namespace satin::view {
namespace {

using nlohmann::json;

constexpr std::size_t most_steps = 64;

const char* kind_of(ParameterKind kind) {
  switch (kind) {
    case ParameterKind::real:
      return "number";
    case ParameterKind::integer:
      return "integer";
    case ParameterKind::length:
    case ParameterKind::radius:
      return "length";
    case ParameterKind::flag:
      return "flag";
    case ParameterKind::choice:
      return "choice";
    case ParameterKind::boxes:
      return "box";
    case ParameterKind::colour:
      return "colour";
    case ParameterKind::point:
      return "point";
    case ParameterKind::reals:
    case ParameterKind::range:
      break;
  }
  return "text";
}

json limit_json(double limit) { return std::isfinite(limit) ? json(limit) : json(nullptr); }

json parameter_json(const ParameterRecord& parameter) {
  return {{"name", parameter.name},
          {"kind", kind_of(parameter.kind)},
          {"unit", parameter.unit},
          {"help", parameter.help},
          {"required", false},
          {"whole", parameter.whole || parameter.kind == ParameterKind::integer},
          {"instead_of", parameter.instead_of},
          {"minimum", limit_json(parameter.minimum)},
          {"choices", parameter.choices},
          {"maximum", limit_json(parameter.maximum)},
          {"default", parameter.default_text}};
}

json input_json(const InputRecord& input, const std::vector<std::string>& pictures) {
  return {{"name", input.name}, {"kind", "image"},    {"unit", ""},
          {"help", input.help}, {"default", ""},      {"required", input.required},
          {"minimum", nullptr}, {"maximum", nullptr}, {"choices", pictures}};
}

[[noreturn]] void refuse(const char* what) {
  throw SettingsError(Error(ErrorKind::usage, std::string("The settings are ") + what + "."), "");
}

StepSettings step_from(const json& object) {
  if (!object.is_object() || !object.contains("filter") || !object["filter"].is_string())
    refuse("no list of filters");
  StepSettings step{object["filter"].get<std::string>()};
  if (!object.contains("values")) return step;
  if (!object["values"].is_object()) refuse("without values");
  for (const auto& [name, value] : object["values"].items()) {
    if (!value.is_string()) refuse("no texts");
    step.set(name, value.get<std::string>());
  }
  return step;
}

}  // namespace

json filters_json(const std::vector<std::string>& pictures) {
  json all = json::array();
  for (const FilterRecord& filter : filters()) {
    if (filter.output != OutputKind::image) continue;
    json parameters = json::array();
    for (const InputRecord& input : filter.inputs) parameters.push_back(input_json(input, pictures));
    for (const ParameterRecord& parameter : filter.parameters)
      parameters.push_back(parameter_json(parameter));
    all.push_back({{"name", filter.name},
                   {"category", filter.category},
                   {"help", filter.help},
                   {"parameters", parameters},
                   {"overlays", overlays_of(filter)}});
  }
  return all;
}

json settings_json(const Settings& settings) {
  json steps = json::array();
  for (const StepSettings& step : settings) {
    json values = json::object();
    for (const auto& [name, text] : step.values) values[name] = text;
    steps.push_back({{"filter", step.filter}, {"values", values}});
  }
  return {{"steps", steps}};
}

Settings settings_from(const json& object) {
  if (!object.is_object() || !object.contains("steps") || !object["steps"].is_array())
    refuse("no list of filters");
  if (object["steps"].size() > most_steps) refuse("too many filters");
  Settings settings;
  for (const json& step : object["steps"]) settings.push_back(step_from(step));
  return settings;
}

std::string text_of(const json& object) {
  return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace satin::view

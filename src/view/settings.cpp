#include "view/settings.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "satin/filter.h"

namespace satin::view {
namespace {

constexpr const char* overlay_parameter = "debug";

bool is_input(const FilterRecord& filter, std::string_view name) {
  return std::ranges::any_of(filter.inputs, [&](const InputRecord& input) { return input.name == name; });
}

PipelineStep step_of(const StepSettings& settings) {
  const FilterRecord& filter = find_filter(settings.filter);
  if (filter.output != OutputKind::image)
    throw Error(ErrorKind::usage,
                "The filter '" + filter.name + "' makes no picture. Use satin " + filter.name + ".");
  PipelineStep step{Parameters(filter), {}};
  for (const auto& [name, text] : settings.values) try {
      if (is_input(filter, name)) {
        step.side_inputs.push_back({name, text});
      } else {
        step.parameters.set(name, text);
      }
    } catch (const Error& error) {
      throw SettingsError(error, name);
    }
  for (const InputRecord& input : filter.inputs)
    if (input.required && step.side(input.name).empty())
      throw SettingsError(Error(ErrorKind::usage, "The filter '" + filter.name + "' needs a " + input.name +
                                                      ": " + input.help + "."),
                          input.name);
  return step;
}

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

void StepSettings::set(std::string_view name, const std::string& text) {
  std::erase_if(values, [&](const auto& value) { return value.first == name; });
  if (!text.empty()) values.emplace_back(name, text);
}

std::string StepSettings::get(std::string_view name) const {
  const auto found = std::ranges::find(values, name, &std::pair<std::string, std::string>::first);
  return found == values.end() ? "" : found->second;
}

Settings settings_of(const Pipeline& pipeline) {
  Settings settings;
  for (const PipelineStep& step : pipeline) {
    const FilterRecord& filter = step.parameters.filter();
    StepSettings& own = settings.emplace_back(StepSettings{filter.name});
    for (const ParameterRecord& parameter : filter.parameters)
      if (const std::string text = step.parameters.get(parameter.name); text != parameter.default_text)
        own.values.emplace_back(parameter.name, text);
    for (const SideInput& side : step.side_inputs) own.values.emplace_back(side.name, side.path.string());
  }
  return settings;
}

Pipeline pipeline_of(const Settings& settings) {
  Pipeline pipeline;
  for (const StepSettings& step : settings) try {
      pipeline.push_back(step_of(step));
    } catch (const SettingsError&) {
      throw;
    } catch (const Error& error) {
      throw SettingsError(error, "");
    }
  if (pipeline.empty()) throw SettingsError(Error(ErrorKind::usage, "There is no filter."), "");
  return pipeline;
}

std::vector<std::string> overlays_of(const FilterRecord& filter) {
  const ParameterRecord* parameter = filter.find_parameter(overlay_parameter);
  std::vector<std::string> overlays;
  if (parameter == nullptr) return overlays;
  std::ranges::copy_if(parameter->choices, std::back_inserter(overlays),
                       [&](const std::string& choice) { return choice != parameter->default_text; });
  return overlays;
}

Pipeline with_overlay(const Pipeline& pipeline, const std::string& overlay) {
  Settings settings = settings_of(pipeline);
  for (std::size_t i = settings.size(); i-- > 0;) {
    const std::vector<std::string> overlays = overlays_of(pipeline[i].parameters.filter());
    if (std::ranges::find(overlays, overlay) == overlays.end()) continue;
    settings[i].set(overlay_parameter, overlay);
    settings.resize(i + 1);
    return pipeline_of(settings);
  }
  throw Error(ErrorKind::usage, "No filter of the pipeline shows '" + printable(overlay) + "'.");
}

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

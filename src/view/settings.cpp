#include "view/settings.h"

#include <algorithm>

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

}  // namespace satin::view

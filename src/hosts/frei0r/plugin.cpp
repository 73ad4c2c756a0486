#include "hosts/frei0r/plugin.h"

#include "hosts/host.h"

namespace satin::frei0r {
namespace {

/// Returns the number that a slider sets: how strongly the filter acts, or the first of its main numbers.
/// Null if it has none.
const ParameterRecord* main_number(const FilterRecord& filter) {
  const ParameterRecord* found = filter.find_parameter(ParameterRole::strength);
  if (found != nullptr) return found;
  for (const ParameterRecord& record : filter.parameters)
    if (record.group == "main" && record.is_number() && (found == nullptr || record.rank < found->rank))
      found = &record;
  return found;
}

bool is_flag(const host::Parameter& parameter) { return parameter.control == host::Control::flag; }

/// Returns the parameter as a text that may be empty, whatever a host with numbers would show.
host::Parameter as_text(const host::Parameter& parameter) {
  return {parameter.record, host::Control::text, 0, 0, 0, parameter.record->choices};
}

}  // namespace

Plugin::Plugin(std::string_view filter, bool is_mixer)
    : filter_(find_filter(filter)),
      name_("satin-" + filter_.name + (is_mixer ? "-mixer" : "")),
      title_("Satin " + filter_.name + (is_mixer ? " with a clip" : "")) {
  const std::vector<host::Parameter> parameters = host::parameters_of(filter_);
  controls_.push_back({Kind::text, "settings", "several settings: NAME:VALUE NAME:VALUE ..."});
  for (const host::Parameter& parameter : parameters)
    if (!is_flag(parameter))
      controls_.push_back(
          {Kind::text, parameter.record->name, host::explanation_of(as_text(parameter)), parameter.record});

  std::vector<std::string> sides;
  for (const InputRecord& input : filter_.inputs) sides.push_back(input.name);
  std::vector<std::string> meanings{"opacity", "keep"};
  const bool needs_depth = !sides.empty() && filter_.inputs.front().role == Role::depth;
  if (!is_mixer) meanings.insert(needs_depth ? meanings.begin() : meanings.end(), sides.begin(), sides.end());
  if (is_mixer) add_own("second", "meaning of the second clip", sides);
  add_own("alpha", "meaning of the alpha channel; keep: none, and it stays", meanings);
  add_own("transfer", "tone curve of the frames, for filters in linear light", {"srgb", "bt709", "linear"});

  for (const host::Parameter& parameter : parameters)
    if (is_flag(parameter))
      controls_.push_back({Kind::flag,
                           parameter.record->name,
                           host::explanation_of(parameter),
                           parameter.record,
                           {},
                           parameter.initial});
  add_slider();
}

void Plugin::add_own(const std::string& name, const std::string& help,
                     const std::vector<std::string>& choices) {
  std::string list;
  for (const std::string& choice : choices) list += (list.empty() ? "" : ", ") + choice;
  controls_.push_back(
      {Kind::text, name, help + "; one of " + list + "; default " + choices.front(), nullptr, choices});
}

void Plugin::add_slider() {
  const ParameterRecord* record = main_number(filter_);
  if (record == nullptr) return;
  const double initial = host::number_of(host::parameter_of(*record), record->default_text);
  controls_.push_back({Kind::number,
                       record->name + "-slider",
                       record->name + " from " + print_real(record->usual_minimum) + " to " +
                           print_real(record->usual_maximum) + " " + record->unit +
                           ", where no text sets it; at its first place it sets nothing",
                       record,
                       {},
                       record->slider_position(initial)});
}

}  // namespace satin::frei0r

#include "satin/filter.h"

#include <algorithm>

#include "satin/error.h"
#include "satin/filters.h"
#include "satin/json.h"
#include "satin/regions.h"
#include "satin/statistics.h"

namespace satin {

// The one list of filters.
std::span<const FilterRecord> filters() {
  // clang-format off
  static const std::vector<FilterRecord> list = {
      blur_record(),
      smooth_record(),
      edge_smooth_record(),
      guided_record(),
      dof_record(),
      tilt_shift_record(),
      median_record(),
      dilate_record(),
      erode_record(),
      integral_record(),
      threshold_record(),
      mask_record(),
      redact_record(),
      local_mean_record(),
      local_deviation_record(),
      normalize_record(),
      stretch_record(),
      unsharp_record(),
      gloss_record(),
      stats_record(),
      bins_record(),
      regions_record(),
  };
  // clang-format on
  return list;
}

namespace {

void add_parameter(JsonWriter& json, const ParameterRecord& parameter) {
  json.begin_object();
  json.key("name").string(parameter.name);
  json.key("kind").string(name_of(parameter.kind));
  json.key("help").string(parameter.help);
  json.key("unit").string(parameter.unit);
  json.key("default").string(parameter.default_text);
  json.key("minimum").real(parameter.minimum);
  json.key("maximum").real(parameter.maximum);
  json.key("choices").strings(parameter.choices);
  json.end_object();
}

void add_input(JsonWriter& json, const InputRecord& input) {
  json.begin_object();
  json.key("name").string(input.name);
  json.key("help").string(input.help);
  json.key("required").boolean(input.required);
  json.end_object();
}

void add_filter(JsonWriter& json, const FilterRecord& filter) {
  json.begin_object();
  json.key("name").string(filter.name);
  json.key("category").string(filter.category);
  json.key("help").string(filter.help);
  json.key("paper").string(filter.paper);
  json.key("output").string(name_of(filter.output));
  json.key("parameters").array(filter.parameters, [&](const auto& each) { add_parameter(json, each); });
  json.key("inputs").array(filter.inputs, [&](const auto& each) { add_input(json, each); });
  json.end_object();
}

}  // namespace

std::string describe_filters() {
  JsonWriter json;
  json.begin_object().key("filters").array(filters(), [&](const auto& each) { add_filter(json, each); });
  return json.end_object().text();
}

const char* name_of(OutputKind kind) noexcept {
  return kind == OutputKind::image ? "image" : kind == OutputKind::table ? "table" : "json";
}

const FilterRecord& find_filter(std::string_view name) {
  std::vector<std::string> names;
  for (const FilterRecord& filter : filters()) {
    if (filter.name == name) return filter;
    names.push_back(filter.name);
  }
  const std::string advice = advice_for(name);
  throw Error(ErrorKind::usage, "There is no filter '" + std::string(name) + "'." +
                                    did_you_mean(name, names) + (advice.empty() ? "" : " " + advice) +
                                    " 'satin list' shows them all.");
}

const ParameterRecord* FilterRecord::find_parameter(std::string_view parameter) const noexcept {
  const auto found = std::find_if(parameters.begin(), parameters.end(),
                                  [&](const ParameterRecord& record) { return record.name == parameter; });
  return found == parameters.end() ? nullptr : &*found;
}

const ParameterRecord* FilterRecord::find_parameter(ParameterRole role) const noexcept {
  const auto found = std::find_if(parameters.begin(), parameters.end(),
                                  [&](const ParameterRecord& record) { return record.role == role; });
  return found == parameters.end() ? nullptr : &*found;
}

namespace {

const ParameterRecord& parameter_of(const FilterRecord& filter, std::string_view name) {
  if (const ParameterRecord* record = filter.find_parameter(name)) return *record;
  std::vector<std::string> names;
  for (const ParameterRecord& record : filter.parameters) names.push_back(record.name);
  throw Error(ErrorKind::usage, "The filter '" + filter.name + "' has no parameter '" + std::string(name) +
                                    "'." + did_you_mean(name, names));
}

}  // namespace

void Parameters::set(std::string_view name, std::string_view text) {
  const ParameterRecord& parameter = parameter_of(*filter_, name);
  for (const std::string& other : set_)
    if (other == parameter.instead_of || parameter_of(*filter_, other).instead_of == name)
      throw Error(ErrorKind::usage, filter_->name + " takes " + other + " or " + std::string(name) +
                                        ", not both: leave one of them out.");
  parameter.set(values_.get(), text);
  set_.emplace_back(name);
}

std::string Parameters::get(std::string_view name) const {
  return parameter_of(*filter_, name).get(values_.get());
}

std::string Parameters::get(ParameterRole role) const {
  const ParameterRecord* record = filter_->find_parameter(role);
  return record == nullptr ? "" : record->get(values_.get());
}

Parameters Parameters::for_photo(const Photo& photo) const {
  Parameters result(*filter_);
  for (const ParameterRecord& parameter : filter_->parameters)
    if (const std::string text = get(parameter.name); text != parameter.default_text)
      result.set(parameter.name, text);
  if (filter_->set_by_photo) filter_->set_by_photo(result.values_.get(), photo);
  return result;
}

Plan plan(const Device& device, const Parameters& parameters, std::span<const Shape> shapes) {
  return parameters.filter().plan(device, shapes, parameters.data());
}

}  // namespace satin

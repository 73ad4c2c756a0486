#include "hosts/host.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace satin::host {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

Control control_of(const ParameterRecord& record) {
  if (record.is_number()) return record.whole ? Control::whole : Control::number;
  if (record.kind == ParameterKind::flag) return Control::flag;
  return record.kind == ParameterKind::choice ? Control::choice : Control::text;
}

/// Returns the number that the whole text is; NaN for other texts.
double parse_number(std::string_view text) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc() && end == text.data() + text.size() ? value : not_a_number;
}

std::string with_unit(double number, const std::string& unit) {
  return print_real(number) + (unit.empty() ? "" : " " + unit);
}

Device open_device(int threads_by_default) {
  const char* name = std::getenv("SATIN_DEVICE");
  const char* threads = std::getenv("SATIN_THREADS");
  DeviceOptions options{.threads = threads_by_default};
  if (threads != nullptr)
    options.threads = static_cast<int>(parse_integer("SATIN_THREADS", threads, 0, 1024));
  return Device::open(name == nullptr ? "auto" : name, options);
}

}  // namespace

bool makes_picture(const FilterRecord& filter) { return filter.output == OutputKind::image; }

bool keeps_size(const FilterRecord& filter) {
  return makes_picture(filter) && filter.shape != OutputShape::other;
}

Parameter parameter_of(const ParameterRecord& record) {
  Parameter parameter{&record, control_of(record)};
  const bool unset = record.may_be_unset();
  switch (parameter.control) {
    case Control::number:
    case Control::whole:
      parameter.minimum = unset ? std::min(record.minimum, record.unset_number()) : record.minimum;
      parameter.maximum = record.maximum;
      break;
    case Control::flag:
      parameter.maximum = 1;
      break;
    case Control::choice:
      if (unset) parameter.choices.emplace_back("auto");
      parameter.choices.insert(parameter.choices.end(), record.choices.begin(), record.choices.end());
      parameter.maximum = static_cast<double>(parameter.choices.size()) - 1;
      break;
    case Control::text:
      return parameter;
  }
  parameter.initial = number_of(parameter, record.default_text);
  return parameter;
}

std::vector<Parameter> parameters_of(const FilterRecord& filter) {
  std::vector<Parameter> all;
  for (const ParameterRecord& record : filter.parameters)
    if (record.role != ParameterRole::depth_source && record.role != ParameterRole::depth_channel)
      all.push_back(parameter_of(record));
  return all;
}

std::string text_of(const Parameter& parameter, double number) {
  const ParameterRecord& record = *parameter.record;
  if (std::isnan(number)) return {};
  switch (parameter.control) {
    case Control::number:
    case Control::whole:
      if (record.may_be_unset() && number == parameter.initial) return {};
      if (record.odd) return print_real(2 * std::floor(number / 2) + 1);
      return print_real(parameter.control == Control::whole ? std::nearbyint(number) : number);
    case Control::flag:
      return number >= 0.5 ? "true" : "false";
    case Control::choice: {
      const auto last = static_cast<double>(parameter.choices.size()) - 1;
      const auto index = static_cast<std::size_t>(std::clamp(number, 0.0, last));
      return record.may_be_unset() && index == 0 ? "" : parameter.choices[index];
    }
    case Control::text:
      break;
  }
  return print_real(number);
}

double number_of(const Parameter& parameter, std::string_view text) {
  const ParameterRecord& record = *parameter.record;
  if (text.empty()) text = record.default_text;
  if (parameter.control == Control::flag) return text == "true" ? 1 : 0;
  if (parameter.control == Control::choice) {
    if (text.empty()) return 0;
    const auto found = std::ranges::find(parameter.choices, text);
    return found == parameter.choices.end() ? not_a_number
                                            : static_cast<double>(found - parameter.choices.begin());
  }
  return text.empty() && record.is_number() ? record.unset_number() : parse_number(text);
}

std::string explanation_of(const Parameter& parameter) {
  const ParameterRecord& record = *parameter.record;
  std::string text = record.help;
  if (record.is_number())
    text += "; " + print_real(record.minimum) + " to " + with_unit(record.maximum, record.unit) +
            ", usually " + print_real(record.usual_minimum) + " to " + print_real(record.usual_maximum);
  for (const std::string& choice : parameter.choices)
    text += (&choice == parameter.choices.data() ? "; one of " : ", ") + choice;
  if (!record.may_be_unset()) return text + "; default " + record.default_text;
  text += "; not set by default";
  if (parameter.control == Control::number || parameter.control == Control::whole)
    text += " (" + print_real(parameter.initial) + " means this)";
  return text;
}

const Device& device(int threads) {
  static const Device opened = open_device(threads);
  return opened;
}

std::string Runner::set(std::string_view name, std::string_view text) {
  return sentence_of([&] {
    Parameters checked(*filter_);
    checked.set(name, text);
    const std::string value = checked.get(name);
    const bool unset = value == filter_->find_parameter(name)->default_text;
    const auto [known, fresh] = settings_.try_emplace(std::string(name));
    changed_ = changed_ || known->second != (unset ? "" : value);
    known->second = unset ? "" : value;
  });
}

Parameters Runner::parameters() const {
  Parameters result(*filter_);
  for (const auto& [name, text] : settings_) result.set(name, text);
  return result;
}

PlanOutline Runner::outline(std::span<const Shape> shapes) const {
  return satin::outline(device_in_use(), parameters(), completed(shapes));
}

std::optional<LocalReach> Runner::reach_of_chunks(std::span<const Shape> shapes) const {
  const Parameters current = parameters();
  for (const ParameterRecord& record : filter_->parameters)
    if (current.get(record.name).ends_with('%')) return std::nullopt;
  return satin::outline(device_in_use(), current, completed(shapes)).reach;
}

void Runner::watch(Progress progress) {
  progress_ = std::move(progress);
  if (plan_) plan_->watch(progress_);
}

std::string Runner::run(std::span<const ImageView> inputs, const MutableImageView& output) {
  return sentence_of([&] {
    std::vector<ImageView> all(inputs.begin(), inputs.end());
    all.resize(1 + filter_->inputs.size());
    std::vector<Shape> shapes;
    for (const ImageView& view : all) shapes.push_back(view.empty() ? Shape{0, 0} : view.shape);
    prepare(shapes);
    plan_->run(all, output);
  });
}

std::vector<Shape> Runner::completed(std::span<const Shape> shapes) const {
  std::vector<Shape> all(shapes.begin(), shapes.end());
  all.resize(1 + filter_->inputs.size());
  return all;
}

void Runner::prepare(const std::vector<Shape>& shapes) {
  const bool same_shapes = plan_ && shapes == planned_shapes_;
  if (same_shapes && !changed_) return;
  const Parameters current = parameters();
  const bool varied = same_shapes && current.varied_from(*planned_) && plan_->vary(current.data(), false);
  if (!varied) {
    plan_.reset();  // its memory may be needed
    plan_.emplace(plan(device_in_use(), current, shapes));
    plan_->watch(progress_);
    ++plans_made_;
  }
  planned_ = current;
  planned_shapes_ = shapes;
  changed_ = false;
}

}  // namespace satin::host

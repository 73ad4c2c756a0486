#include "view/settings.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "batch/file_names.h"
#include "satin/error.h"
#include "satin/filter.h"
#include "satin/json.h"

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
    case ParameterKind::size:
    case ParameterKind::box:
    case ParameterKind::ratio:
      break;
  }
  return "text";
}

json limit_json(double limit) { return std::isfinite(limit) ? json(limit) : json(nullptr); }

/// `on_picture` says whether places in the result are those in the picture, so that the page can show them.
json parameter_json(const ParameterRecord& parameter, bool on_picture) {
  const bool is_place = parameter.kind == ParameterKind::point;
  return {{"name", parameter.name},
          {"kind", is_place && !on_picture ? "text" : kind_of(parameter.kind)},
          {"unit", parameter.unit},
          {"help", parameter.help},
          {"required", false},
          {"whole", parameter.whole},
          {"odd", parameter.odd},
          {"usual", {parameter.usual_minimum, parameter.usual_maximum}},
          {"scale", name_of(parameter.scale)},
          {"instead_of", parameter.instead_of},
          {"strength", parameter.role == ParameterRole::strength},
          {"group", parameter.group},
          {"rank", parameter.rank},
          {"minimum", limit_json(parameter.minimum)},
          {"choices", parameter.choices},
          {"maximum", limit_json(parameter.maximum)},
          {"default", parameter.default_text}};
}

json input_json(const InputRecord& input, const std::vector<std::string>& pictures) {
  return {{"name", input.name}, {"kind", "image"},     {"unit", ""},
          {"help", input.help}, {"default", ""},       {"required", input.required},
          {"minimum", nullptr}, {"maximum", nullptr},  {"choices", pictures},
          {"rank", 0},          {"group", input.group}};
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

constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:=@%+";

/// Writes special bytes as a backslash and three octal digits.
std::string in_octal(const std::string& word) {
  std::string text;
  for (const char c : word) {
    if (plain.find(c) != std::string_view::npos && c != '%') {
      text += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    text += '\\';
    for (const int shift : {6, 3, 0}) text += static_cast<char>('0' + ((byte >> shift) & 7));
  }
  return text;
}

/// Whether the text, which is UTF-8, has characters that change the direction of writing: a name with them
/// can look like another one. U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069.
bool is_bidirectional(std::string_view text) {
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    const std::string_view two = text.substr(i, 2);
    const auto last = i + 2 < text.size() ? static_cast<unsigned char>(text[i + 2]) : 0;
    if (two == "\xD8\x9C") return true;
    if (two == "\xE2\x80" && (last == 0x8E || last == 0x8F || (last >= 0xAA && last <= 0xAE))) return true;
    if (two == "\xE2\x81" && last >= 0xA6 && last <= 0xA9) return true;
  }
  return false;
}

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorKind::usage, what + " Paste a command line as satin view shows it.");
}

/// Splits a line, one character at a time.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}

  std::vector<std::string> all() {
    while (!rest_.empty()) take();
    end_word();
    return std::move(words_);
  }

 private:
  void take() {
    const char c = next();
    if (c == '\'') return take_single();
    if (c == '"') return take_double();
    if (c == '\\') return take_escaped();
    if (c == '$' && rest_.starts_with('\'')) return take_octal();
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') return end_word();
    if (std::string_view("|&;<>()$`*?[#~").find(c) != std::string_view::npos &&
        !(in_word_ && (c == '#' || c == '~')))
      refuse("Outside quotes " + quoted_word({c}) + " is for a shell.");
    add(c);
  }

  void take_single() {
    const std::size_t end = rest_.find('\'');
    if (end == std::string_view::npos) refuse("A quote is open.");
    word_ += rest_.substr(0, end);
    in_word_ = true;
    rest_.remove_prefix(end + 1);
  }

  void take_double() {
    in_word_ = true;
    while (!rest_.empty()) {
      const char c = next();
      if (c == '"') return;
      if (c == '$' || c == '`') refuse("'$' and '`' inside double quotes are for a shell.");
      const bool escapes = c == '\\' && !rest_.empty() &&
                           std::string_view("$`\"\\\n").find(rest_.front()) != std::string_view::npos;
      if (!escapes) {
        add(c);
      } else if (const char escaped = next(); escaped != '\n') {
        add(escaped);
      }
    }
    refuse("A quote is open.");
  }

  /// Takes $'...' as quoted_word() writes it: bytes, and backslashes before three octal digits.
  void take_octal() {
    in_word_ = true;
    next();
    while (!rest_.empty()) {
      const char c = next();
      if (c == '\'') return;
      if (c != '\\') {
        add(c);
        continue;
      }
      int byte = 0;
      const auto [end, error] =
          std::from_chars(rest_.data(), rest_.data() + std::min<std::size_t>(3, rest_.size()), byte, 8);
      if (error != std::errc{} || end != rest_.data() + 3 || byte < 1 || byte > 255)
        refuse("Inside $'...' a backslash stands before three octal digits.");
      rest_.remove_prefix(3);
      add(static_cast<char>(byte));
    }
    refuse("A quote is open.");
  }

  /// A backslash before a newline joins two lines.
  void take_escaped() {
    if (rest_.empty()) refuse("A backslash ends the line.");
    if (const char c = next(); c != '\n') add(c);
  }

  char next() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  void add(char c) {
    word_ += c;
    in_word_ = true;
  }

  void end_word() {
    if (in_word_) words_.push_back(std::move(word_));
    word_.clear();
    in_word_ = false;
  }

  std::string_view rest_;
  std::string word_;
  bool in_word_ = false;
  std::vector<std::string> words_;
};

/// Adds an option. A flag has no value. A value that begins with a dash is joined by an equals sign.
void add_option(std::vector<std::string>& words, const std::string& name, const std::string& value,
                bool is_flag) {
  if (is_flag) {
    words.push_back(value == "true" ? "--" + name : "--" + name + "=" + value);
  } else if (value.starts_with('-')) {
    words.push_back("--" + name + "=" + value);
  } else {
    words.push_back("--" + name);
    words.push_back(value);
  }
}

void add_settings(std::vector<std::string>& words, const PipelineStep& step) {
  const FilterRecord& filter = step.parameters.filter();
  const Settings settings = settings_of({step});
  for (const auto& [name, text] : settings.front().values) {
    const ParameterRecord* parameter = filter.find_parameter(name);
    add_option(words, name, parameter == nullptr ? argument_of(text) : text,
               parameter != nullptr && parameter->kind == ParameterKind::flag);
  }
}

std::string line_of(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + quoted_word(word);
  return line;
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

std::optional<std::string> mask_input(const std::string& filter) {
  const std::vector<InputRecord>& inputs = find_filter(filter).inputs;
  const auto found = std::ranges::find(inputs, Role::mask, &InputRecord::role);
  return found == inputs.end() ? std::nullopt : std::optional(found->name);
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
      parameters.push_back(parameter_json(parameter, filter.frame == nullptr));
    std::vector<std::string> overlays = overlays_of(filter);
    if (std::ranges::find(filter.inputs, Role::depth, &InputRecord::role) != filter.inputs.end())
      overlays.emplace_back(depth_overlay);
    all.push_back({{"name", filter.name},
                   {"category", filter.category},
                   {"help", filter.help},
                   {"parameters", parameters},
                   {"overlays", overlays}});
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

std::string quoted_word(const std::string& word) {
  // Newlines at the very end are lost through printf, as a command substitution drops them.
  if (!batch::is_utf8(word)) return "\"$(printf '" + in_octal(word) + "')\"";
  if (is_bidirectional(word)) return "$'" + in_octal(word) + "'";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::vector<std::string> shell_words(std::string_view line) { return Words(line).all(); }

std::string argument_of(const std::filesystem::path& name) {
  const std::string text = name.string();
  return text.size() > 1 && text.front() == '-' ? "./" + text : text;
}

std::string files_text(const std::vector<std::string>& inputs, const std::string& output) {
  std::vector<std::string> words = inputs;
  words.insert(words.end(), {"-o", argument_of(output)});
  return line_of(words);
}

std::string options_text(const LineOptions& options) {
  std::vector<std::string> words;
  for (const auto& [name, value] : options) add_option(words, name, value, value == "true");
  return line_of(words);
}

std::string command_line(const Pipeline& pipeline, const std::vector<std::string>& inputs,
                         const std::string& output, const LineOptions& kept) {
  std::vector<std::string> words{"satin"};
  const bool single = pipeline.size() == 1;
  if (single) {
    words.push_back(pipeline.front().parameters.filter().name);
  } else {
    words.insert(words.end(), {"run", print_pipeline(pipeline)});
  }
  std::string line = line_of(words) + " " + files_text(inputs, output);
  std::vector<std::string> settings;
  if (single) add_settings(settings, pipeline.front());
  for (const std::string& more : {line_of(settings), options_text(kept)})
    if (!more.empty()) line += " " + more;
  return line;
}

}  // namespace satin::view

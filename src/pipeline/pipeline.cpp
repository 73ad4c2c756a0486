// The text of pipelines: "crop aspect=1:1 | unsharp amount=0.5" to steps with parameters, and back.

#include "satin/pipeline.h"

#include <algorithm>
#include <cstddef>

#include "satin/error.h"

namespace satin {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n'; }

bool is_quote(char c) { return c == '\'' || c == '"'; }

/// Whether the byte continues a UTF-8 character.
bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

/// Replaces control characters by spaces. A zero byte would end a message; others would move the caret.
std::string printable(std::string_view text) {
  std::string shown(text);
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; },
      ' ');
  return shown;
}

/// Returns the text on one line, and below it a caret under the byte `at`.
std::string pointed_at(std::string_view text, std::size_t at) {
  const auto before = std::count_if(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at),
                                    [](char c) { return !continues_character(c); });
  return "\n  " + printable(text) + "\n  " + std::string(static_cast<std::size_t>(before), ' ') + "^";
}

/// Recursive-descent parser with one function for each rule of the grammar.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Pipeline pipeline() {
    Pipeline steps;
    do {
      if (!steps.empty()) require_picture(steps.back());
      steps.push_back(step());
    } while (take('|'));
    return steps;
  }

 private:
  /// Calls `function` and adds the column of the current name to its errors.
  template <class Function>
  auto at_start(const Function& function) const -> decltype(function()) {
    try {
      return function();
    } catch (const Error& error) {
      throw here(error.what(), error.kind());
    }
  }

  PipelineStep step() {
    skip_spaces();
    start_ = at_;
    step_start_ = at_;
    const std::string name = word("=|'\"");
    if (name.empty()) refuse("the name of a filter is expected");
    PipelineStep step = at_start([&] { return PipelineStep{Parameters(find_filter(printable(name))), {}}; });
    while (!at_end_of_step()) setting(step);
    return step;
  }

  void setting(PipelineStep& step) {
    start_ = at_;
    const std::string name = word("=|'\"");
    if (name.empty()) refuse("a setting such as radius=8 is expected");
    check_name(step.parameters.filter(), name);
    const bool assigned = take('=');
    const std::string text = assigned ? value() : is_flag(step, name) ? "true" : "";
    if (text.empty()) refuse("'" + name + "' needs a value: " + name + "=...");
    at_start([&] {
      if (is_side_input(step, name))
        add_side_input(step, name, text);
      else
        step.parameters.set(name, printable(text));
    });
  }

  std::string value() {
    if (!at_quote()) return word("|");
    std::string text;
    while (at_quote()) text += quoted_text();
    if (at_ < text_.size() && !is_space(text_[at_]) && text_[at_] != '|') {
      start_ = at_;
      refuse("a space is missing after the closing quote");
    }
    return text;
  }

  bool at_quote() const { return at_ < text_.size() && is_quote(text_[at_]); }

  std::string quoted_text() {
    const char quote = text_[at_];
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) {
      start_ = at_;
      refuse("the closing quote is missing");
    }
    std::string text(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return text;
  }

  /// Reads up to a space or one of `ends`.
  std::string word(std::string_view ends) {
    const std::size_t first = at_;
    while (at_ < text_.size() && !is_space(text_[at_]) && ends.find(text_[at_]) == std::string_view::npos)
      ++at_;
    return std::string(text_.substr(first, at_ - first));
  }

  static bool is_side_input(const PipelineStep& step, const std::string& name) {
    const auto& inputs = step.parameters.filter().inputs;
    return std::any_of(inputs.begin(), inputs.end(),
                       [&](const InputRecord& input) { return input.name == name; });
  }

  static bool is_flag(const PipelineStep& step, const std::string& name) {
    const ParameterRecord* record = step.parameters.filter().find_parameter(name);
    return record != nullptr && record->kind == ParameterKind::flag;
  }

  void check_name(const FilterRecord& filter, const std::string& name) const {
    std::vector<std::string> known;
    for (const ParameterRecord& parameter : filter.parameters) known.push_back(parameter.name);
    for (const InputRecord& input : filter.inputs) known.push_back(input.name);
    if (std::find(known.begin(), known.end(), name) != known.end()) return;
    throw here("'" + filter.name + "' has no setting '" + name + "'." + did_you_mean(name, known));
  }

  static void add_side_input(PipelineStep& step, const std::string& name, const std::string& path) {
    if (path.empty()) throw Error(ErrorKind::usage, "The name of the file for " + name + " is empty.");
    step.side_inputs.push_back({name, path});
  }

  void require_picture(const PipelineStep& step) {
    const FilterRecord& filter = step.parameters.filter();
    if (filter.output == OutputKind::image) return;
    start_ = step_start_;
    refuse("'" + filter.name + "' makes " + (filter.output == OutputKind::table ? "a table" : "JSON") +
           ", which no filter reads: put it last");
  }

  bool take(char c) {
    skip_spaces();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool at_end_of_step() {
    skip_spaces();
    return at_ == text_.size() || text_[at_] == '|';
  }

  void skip_spaces() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }

  [[noreturn]] void refuse(const std::string& what) const { throw here(what + "."); }

  Error here(const std::string& what, ErrorKind kind = ErrorKind::usage) const {
    return {kind, "Column " + std::to_string(start_ + 1) + " of the pipeline: " + printable(what) +
                      pointed_at(text_, start_)};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t start_ = 0;       ///< start of the current name
  std::size_t step_start_ = 0;  ///< start of the current filter's name
};

/// Quotes the text. Text with both kinds of quotes becomes several quoted runs, each in the kind that it
/// lacks.
std::string in_quotes(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const char quote = text.front() == '\'' ? '"' : '\'';
    const std::string_view run = text.substr(0, text.find(quote));
    result.append(1, quote).append(run).append(1, quote);
    text.remove_prefix(run.size());
  }
  return result;
}

std::string print_value(std::string_view text) {
  const bool is_word = !text.empty() && !is_quote(text.front()) &&
                       std::none_of(text.begin(), text.end(), [](char c) { return is_space(c) || c == '|'; });
  return is_word ? std::string(text) : in_quotes(text);
}

std::string print_step(const PipelineStep& step) {
  const FilterRecord& filter = step.parameters.filter();
  const Parameters defaults(filter);
  std::string text = filter.name;
  for (const ParameterRecord& parameter : filter.parameters) {
    const std::string value = step.parameters.get(parameter.name);
    if (value != defaults.get(parameter.name)) text += " " + parameter.name + "=" + print_value(value);
  }
  for (const InputRecord& input : filter.inputs)
    for (const SideInput& side : step.side_inputs)
      if (side.name == input.name) text += " " + side.name + "=" + print_value(side.path.native());
  return text;
}

}  // namespace

std::string PipelineStep::side(std::string_view name) const {
  const auto found = std::find_if(side_inputs.begin(), side_inputs.end(),
                                  [&](const SideInput& side) { return side.name == name; });
  return found == side_inputs.end() ? "" : found->path.string();
}

Framing framing_of(std::span<const PipelineStep> steps, std::int64_t width, std::int64_t height) {
  Framing all = Framing::whole(static_cast<double>(width), static_cast<double>(height));
  for (const PipelineStep& step : steps) {
    const auto& frame = step.parameters.filter().frame;
    if (!frame) continue;
    const Framing next = frame(step.parameters.data(), static_cast<std::int64_t>(all.result_width),
                               static_cast<std::int64_t>(all.result_height));
    const double x = all.box_width / all.result_width, y = all.box_height / all.result_height;
    all.x += next.x * x;
    all.y += next.y * y;
    all.box_width = next.box_width * x;
    all.box_height = next.box_height * y;
    all.result_width = next.result_width;
    all.result_height = next.result_height;
  }
  return all;
}

Pipeline parse_pipeline(std::string_view text) { return Parser(text).pipeline(); }

std::string print_pipeline(const Pipeline& pipeline) {
  std::string text;
  for (const PipelineStep& step : pipeline) text += (text.empty() ? "" : " | ") + print_step(step);
  return text;
}

}  // namespace satin

#include "view/command_text.h"

#include "batch/file_names.h"
#include "satin/error.h"
#include "satin/json.h"

namespace satin::view {
namespace {

constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:=@%+";

/// Octal digits stand for every byte that printf or the quotes would take for something else. Newlines at the
/// very end of such a name are lost: a command substitution drops them.
std::string through_printf(const std::string& word) {
  std::string text = "\"$(printf '";
  for (const char c : word) {
    if (plain.find(c) != std::string_view::npos && c != '%') {
      text += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    text += '\\';
    for (const int shift : {6, 3, 0}) text += static_cast<char>('0' + ((byte >> shift) & 7));
  }
  return text + "')\"";
}

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorKind::usage, what + " Paste a command line as satin view shows it.");
}

/// Takes a line apart, a character at a time.
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

  /// A backslash before the end of a line joins two lines.
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

/// A flag stands alone; a value that begins with a dash is joined by an equals sign.
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

}  // namespace

std::string quoted_word(const std::string& word) {
  if (!batch::is_utf8(word)) return through_printf(word);
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

std::string command_line(const Pipeline& pipeline, const std::vector<std::string>& inputs,
                         const std::string& output, const LineOptions& kept) {
  std::vector<std::string> words{"satin"};
  const bool single = pipeline.size() == 1;
  if (single) {
    words.push_back(pipeline.front().parameters.filter().name);
  } else {
    words.insert(words.end(), {"run", print_pipeline(pipeline)});
  }
  words.insert(words.end(), inputs.begin(), inputs.end());
  words.insert(words.end(), {"-o", argument_of(output)});
  if (single) add_settings(words, pipeline.front());
  for (const auto& [name, value] : kept) add_option(words, name, value, value == "true");
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + quoted_word(word);
  return line;
}

}  // namespace satin::view

#include "app/help.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "app/command_line.h"
#include "app/examples.h"
#include "satin/error.h"

namespace satin::app {
namespace {

constexpr std::size_t widest_name = 26;

std::size_t name_width(const CommandSpec& command) {
  std::size_t width = 0;
  for (const OptionGroup& group : command.groups)
    for (const OptionSpec& option : group.options)
      if (signature(option).size() <= widest_name) width = std::max(width, signature(option).size());
  return width;
}

/// A purpose of users, and the categories of the filters for it.
struct Purpose {
  std::string_view title;
  std::string_view categories;
};
constexpr std::array purposes = {
    Purpose{"Blur, smooth, clean", "smoothing order"},
    Purpose{"Depth of field", "lens"},
    Purpose{"Sharpness, contrast, light", "sharpening statistics lighting"},
    Purpose{"Masks, pages, secrets", "masks morphology"},
    Purpose{"Numbers out of pictures", "measurement tables"},
};

std::string rows(const std::vector<CommandSpec>& all, std::string_view categories, std::size_t columns) {
  std::size_t width = 0;
  for (const CommandSpec& command : all) width = std::max(width, command.name.size());
  std::string text;
  for (const CommandSpec& command : all) {
    const std::string category = command.filter == nullptr ? "" : command.filter->category;
    const bool belongs =
        category.empty() ? categories.empty() : categories.find(category) != std::string::npos;
    if (belongs) text += table_row(command.name, command.help, width, columns);
  }
  return text;
}

}  // namespace

std::string joined(const std::vector<std::string>& words, const std::string& separator) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : separator) + word;
  return text;
}

void refuse_arguments(const CommandSpec& command, const ParsedLine& line) {
  if (!line.arguments.empty())
    throw Error(ErrorKind::usage, "'satin " + command.name + "' takes no '" + line.arguments.front() + "'.");
}

std::string signature(const OptionSpec& option) {
  std::string text = option.letter == '\0' ? "" : std::string{'-', option.letter} + ", ";
  text += "--" + option.name;
  return option.value.empty() ? text : text + " " + option.value;
}

std::string description(const OptionSpec& option) {
  std::vector<std::string> facts;
  if (!option.choices.empty()) facts.push_back(joined(option.choices, ", "));
  const bool both = !option.range.empty() && !option.unit.empty();
  if (!option.range.empty() || !option.unit.empty())
    facts.push_back(option.range + (both ? " " : "") + option.unit);
  if (!option.default_text.empty()) facts.push_back("default " + option.default_text);
  return facts.empty() ? option.help : option.help + " (" + joined(facts, "; ") + ")";
}

std::string table_row(const std::string& name, const std::string& text, std::size_t name_width,
                      std::size_t columns) {
  const std::size_t indent = name_width + 4;
  const std::string next_line = std::string("\n").append(indent, ' ');
  std::string row = "  " + name;
  if (row.size() + 2 > indent)
    row += next_line;
  else
    row.resize(indent, ' ');
  std::size_t column = indent;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (column > indent && column + 1 + word.size() > columns) {
      row += next_line;
      column = indent;
    }
    if (column > indent) {
      row += ' ';
      ++column;
    }
    row += word;
    column += word.size();
  }
  return row + "\n";
}

std::string overview(const std::vector<CommandSpec>& all, std::size_t columns) {
  std::string text = "Usage: satin FILTER INPUT... -o OUTPUT [options]\n       satin COMMAND\n";
  for (const Purpose& purpose : purposes)
    text += "\n" + std::string(purpose.title) + "\n" + rows(all, purpose.categories, columns);
  return text + "\nCommands\n" + rows(all, "", columns) +
         "\n'satin help FILTER' shows the options of a filter, 'satin version' the version.\n";
}

std::string help_page(const CommandSpec& command, std::size_t columns) {
  std::string text =
      command.name + ": " + command.help + "\n\nUsage: satin " + command.name + " " + command.usage + "\n";
  const std::size_t width = name_width(command);
  for (const OptionGroup& group : command.groups) {
    text += "\n" + group.title + "\n";
    for (const OptionSpec& option : group.options)
      text += table_row(signature(option), description(option), width, columns);
  }
  if (!command.details.empty()) text += "\n" + command.details + "\n";
  if (const std::vector<std::string> examples = examples_of(command.name); !examples.empty())
    text += "\nExamples\n  " + joined(examples, "\n  ") + "\n";
  return text;
}

}  // namespace satin::app

#include "app/help.h"

#include <algorithm>
#include <array>
#include <span>
#include <sstream>

#include "app/command_line.h"
#include "satin/error.h"

namespace satin::app {
namespace {

struct Examples {
  std::string_view command;
  std::array<std::string_view, 2> lines;
};

constexpr std::array examples = {
    Examples{"blur",
             {"satin blur photo.jpg -o soft.jpg --radius 12",
              "satin blur photo.jpg -o varied.jpg --radius-map depth.png --radius-max 24"}},
    Examples{"smooth",
             {"satin smooth photo.jpg -o smooth.jpg --sigma 40",
              "satin smooth photo.jpg -o sky_only.jpg --sigma 40 --mask mask.png"}},
    Examples{"edge-smooth",
             {"satin edge-smooth photo.jpg -o flat.jpg --sigma-s 30 --sigma-r 0.2",
              "satin edge-smooth depth.png -o clean_depth.png --guide photo.jpg"}},
    Examples{"guided",
             {"satin guided photo.jpg -o even.jpg --radius 8",
              "satin guided depth.png -o fitted_depth.png --guide photo.jpg --eps 0.0004"}},
    Examples{
        "dof",
        {"satin dof photo.jpg --depth depth.png -o portrait.jpg --focus-at 40%,55% --strength 20",
         "satin dof photo.jpg --depth depth.png -o lights.jpg --focus 0.9 --strength 3% --highlights 4"}},
    Examples{"tilt-shift",
             {"satin tilt-shift photo.jpg -o toy.jpg --band 8 --falloff 25 --radius 12",
              "satin tilt-shift photo.jpg -o slanted.jpg --angle 20 --place 50%,60%"}},
    Examples{"median",
             {"satin median page.png -o clean.png --radius 2",
              "satin median page.png -o repaired.png --radius 1 --threshold 0.3"}},
    Examples{
        "dilate",
        {"satin dilate mask.png -o grown.png --radius 3", "satin dilate page.png -o faint.png --radius 1"}},
    Examples{
        "erode",
        {"satin erode page.png -o bold.png --radius 3", "satin erode mask.png -o shrunk.png --radius 5x1"}},
    Examples{"integral",
             {"satin integral page.png -o table.npy", "satin integral page.png -o squares.npy --squared"}},
    Examples{"threshold",
             {"satin threshold page.png -o ink.png --window 75",
              "satin threshold page.png -o global.png --method otsu"}},
    Examples{"mask",
             {"satin mask mask.png -o whole.png --fill-all-holes --min-area 50",
              "satin mask mask.png -o edge.png --grow 5 --feather 8"}},
    Examples{"redact",
             {"satin redact photo.jpg -o safe.jpg --box 12,8,24,16",
              "satin redact photo.jpg -o blocks.jpg --mask mask.png --method mosaic"}},
    Examples{"local-mean",
             {"satin local-mean photo.jpg -o mean.png --window 15",
              "satin local-mean depth.png -o depth_mean.png --window 31"}},
    Examples{"local-deviation",
             {"satin local-deviation photo.jpg -o busy.png --window 15",
              "satin local-deviation page.png -o writing.png --window 31"}},
    Examples{"normalize",
             {"satin normalize page.png -o even_page.png",
              "satin normalize photo.jpg -o even_light.jpg --window 201"}},
    Examples{"stretch",
             {"satin stretch page.png -o contrast.png --window 101",
              "satin stretch photo.jpg -o local_contrast.jpg --low 1 --high 99"}},
    Examples{"unsharp",
             {"satin unsharp photo.jpg -o crisp.jpg --sigma 1.5",
              "satin unsharp photo.jpg -o depth_of_light.jpg --radius 5% --amount 0.2"}},
    Examples{"gloss",
             {"satin gloss sky.pfm -o rough.pfm --roughness 0.5",
              "satin gloss sky.pfm -o levels.pfm --roughness 1 --levels 5"}},
    Examples{"stats", {"satin stats photo.jpg", "satin stats photo.jpg --json --plot histogram.svg"}},
    Examples{"bins", {"satin bins photo.jpg -o zones/ --bins 8", "satin bins depth.png -o layers/ --bins 4"}},
    Examples{
        "regions",
        {"satin regions mask.png", "satin regions mask.png --image photo.jpg --min-area 50 -o regions.json"}},
    Examples{"run",
             {"satin run 'blur radius=2 | unsharp amount=0.5' photo.jpg -o clear.jpg",
              "satin run 'threshold window=75 | regions min-area=20' page.png -o letters.json"}},
    Examples{"info", {"satin info photo.jpg", "satin info photo.jpg depth.png --json"}},
    Examples{"bench",
             {"satin bench blur --radius 32 --size 640x480",
              "satin bench median --radius 20 --size 640x480 --json"}},
};

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

std::vector<std::string> examples_of(std::string_view command) {
  const auto* found = std::find_if(examples.begin(), examples.end(),
                                   [&](const Examples& each) { return each.command == command; });
  if (found == examples.end()) return {};
  return {found->lines.begin(), found->lines.end()};
}

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
  if (const std::vector<std::string> shown = examples_of(command.name); !shown.empty())
    text += "\nExamples\n  " + joined(shown, "\n  ") + "\n";
  return text;
}

}  // namespace satin::app

// satin view: starts the page with the filter of the command line, and parses command lines that users paste
// into the page.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/commands.h"
#include "app/interrupt.h"
#include "app/options.h"
#include "app/report.h"
#include "satin/error.h"
#include "satin/param.h"
#include "satin/pipeline.h"
#include "view/view.h"

namespace satin::app {
namespace {

constexpr const char* usual_filter = "blur";
constexpr const char* filter_of_depth = "dof";
constexpr long largest_port = 65535;

/// Returns the options that filter commands have too and that the page's command line repeats.
std::vector<OptionSpec> kept_options() {
  std::vector<OptionSpec> options = together({write_options(), read_options(), device_options()});
  std::erase_if(options, [](const OptionSpec& option) { return option.name == "all-pages"; });
  const std::vector<OptionSpec> batch = batch_option_group(nullptr).options;
  std::ranges::copy_if(batch, std::back_inserter(options), [](const OptionSpec& option) {
    return option.name == "mask-from" || option.name == "keep-metadata";
  });
  return options;
}

bool is_kept(const std::string& name) {
  static const std::vector<OptionSpec> kept = kept_options();
  return std::ranges::find(kept, name, &OptionSpec::name) != kept.end();
}

view::LineOptions kept_of(const ParsedLine& line) {
  view::LineOptions kept;
  std::ranges::copy_if(line.options, std::back_inserter(kept),
                       [](const auto& option) { return is_kept(option.first); });
  return kept;
}

/// Whether the value of --filter is a pipeline, as for `satin run`, and not a name.
bool is_pipeline(const std::string& filter) { return filter.find_first_of(" |=") != std::string::npos; }

/// Returns the filter that the page starts with: `told`, or else depth of field if there is depth, or else
/// blur.
std::string first_filter(const std::optional<std::string>& told, bool with_depth) {
  return told.value_or(with_depth ? filter_of_depth : usual_filter);
}

Pipeline pipeline_of(const ParsedLine& line) {
  const std::string filter =
      first_filter(line.value("filter"), line.value("depth") || line.value("depth-from"));
  return is_pipeline(filter) ? parse_pipeline(filter) : Pipeline{step_of(find_filter(filter), line)};
}

/// Whether an option is a parameter or a side input of the filter.
bool is_of(const FilterRecord* filter, const std::string& option) {
  if (filter == nullptr) return false;
  return filter->find_parameter(option) != nullptr ||
         std::ranges::find(filter->inputs, option, &InputRecord::name) != filter->inputs.end();
}

view::Line understand(const std::vector<std::string>& words) {
  const auto not_pasted = [](const std::string& what) {
    return Error(ErrorKind::usage,
                 what + " Paste a command line such as satin blur photo.jpg -o out.jpg --radius 8.");
  };
  if (words.size() < 2 || (words[0] != "satin" && !words[0].ends_with("/satin")))
    throw not_pasted("That is no command line of satin.");
  const CommandSpec command = find_command({words.begin() + 1, words.end()});
  const bool runs = command.name == "run";
  if (command.filter == nullptr && !runs) throw not_pasted("'satin " + command.name + "' makes no picture.");
  const ParsedLine line = parse_line(command, {words.begin() + 2, words.end()});
  for (const auto& option : line.options)
    if (!is_of(command.filter, option.first) && !is_kept(option.first) && option.first != "output" &&
        option.first != "overwrite" && option.first != "model")
      throw Error(ErrorKind::usage, "satin view does without --" + option.first + ": drop it from the line.");
  if (runs && line.arguments.empty()) throw not_pasted("There is no pipeline behind 'run'.");
  const Pipeline pipeline =
      runs ? parse_pipeline(line.arguments.front()) : Pipeline{step_of(*command.filter, line)};
  return {pipeline, batch_options_of(line), kept_of(line)};
}

void tell_listening(const std::string& address) {
  if (address == "127.0.0.1" || address == "::1") return;
  print_error(
      "Warning: the page listens at " + address +
      ". Whoever sees the printed address on its way, which is not encrypted, sees and changes the picture "
      "and writes its output.");
}

int run_view(const CommandSpec& /*command*/, const ParsedLine& line) {
  view::Start start{{pipeline_of(line), batch_options_of(line), kept_of(line)},
                    Device::open(line.value("device").value_or("auto"), device_options_of(line)),
                    !line.value("filter"),
                    line.value("listen").value_or("127.0.0.1"),
                    0,
                    understand,
                    {},
                    interrupted};
  if (const auto port = line.value("port"))
    start.port = static_cast<std::uint16_t>(parse_integer("--port", *port, 0, largest_port));
  const PatientWork patient(Patience::short_one);  // outlives the object that removes the browser's file
  std::optional<view::Browser> browser;
  start.listening = [&](const std::string& url) {
    print(url + "\n");
    if (!line.flag("quiet")) tell_listening(start.address);
    if (!line.flag("no-browser")) browser.emplace(url);
  };
  view::serve(start);
  return exit_interrupted();
}

/// Returns first_filter() for words that are not parsed yet, because the options depend on the filter.
std::string first_filter_in(const std::vector<std::string>& arguments) {
  std::optional<std::string> told;
  bool with_depth = false;
  constexpr std::string_view option = "--filter";
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == option && i + 1 < arguments.size()) told = arguments[i + 1];
    if (argument.starts_with(option) && argument.find('=') == option.size())
      told = argument.substr(option.size() + 1);
    with_depth = with_depth || argument.starts_with("--depth");
  }
  return first_filter(told, with_depth);
}

OptionGroup page_options() {
  return {"Page",
          {valued("filter", "NAME|PIPELINE", "filter to start with; the page offers the others",
                  {.default_text = "dof if there is depth, else blur"}),
           file("output", "output of Save: a file, or a folder for several pictures",
                {.letter = 'o', .value = "PATH", .default_text = "beside the picture"}),
           valued("port", "N", "port of the page; 0: any that is free",
                  {.range = "0 to 65535", .default_text = "0"}),
           valued("listen", "ADDRESS", "address of this machine at which others see the page",
                  {.default_text = "127.0.0.1"}),
           model_option("ONNX file for \"Estimate depth\" on the page"),
           flag("no-browser", "print the address and open no browser")}};
}

}  // namespace

CommandSpec view_command(const std::vector<std::string>& arguments) {
  CommandSpec command;
  command.name = "view";
  command.help = "open a page with controls for the filters, which shows the command line";
  command.usage = "INPUT... [--filter F] [-o OUTPUT] [options]";
  command.details =
      "Serves a page to a browser on this machine and prints its address; Ctrl-C ends it. At 1:1 the page "
      "shows\n"
      "the pixels that its command writes. The filter's options say what it begins with.";
  command.takes_files = true;
  command.run = run_view;
  command.groups.push_back(page_options());
  if (const std::string filter = first_filter_in(arguments); !is_pipeline(filter))
    command.groups.push_back({"Options of " + filter, own_options(find_filter(filter))});
  command.groups.push_back(
      {"Common options",
       together({kept_options(),
                 input_options(),
                 {flag("quiet", "print only errors, no warnings", {.letter = 'q'}), help_option()}})});
  return command;
}

}  // namespace satin::app

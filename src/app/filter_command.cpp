#include "app/filter_command.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>

#include "app/exit_code.h"
#include "app/interrupt.h"
#include "app/progress.h"
#include "app/report.h"
#include "app/settings.h"
#include "app/terminal.h"
#include "satin/batch.h"
#include "satin/error.h"
#include "satin/pipeline.h"

namespace satin::app {
namespace {

namespace fs = std::filesystem;

std::string format_of(const ParsedLine& line) {
  const std::string text = line.value("format").value_or("");
  return text.empty() || text.front() == '.' ? text : "." + text;
}

PipelineStep step_of(const FilterRecord& filter, const ParsedLine& line) {
  PipelineStep step{parameters_of(filter, line), {}};
  for (const InputRecord& input : filter.inputs)
    if (const auto path = line.value(input.name)) step.side_inputs.push_back({input.name, *path});
  return step;
}

BatchOptions batch_options_of(const ParsedLine& line) {
  BatchOptions options;
  options.inputs.assign(line.arguments.begin(), line.arguments.end());
  options.output = line.value("output").value_or("");
  options.format = format_of(line);
  options.recursive = line.flag("recursive");
  options.overwrite = line.flag("overwrite");
  return options;
}

void check_standard_output(const BatchOptions& options, bool json) {
  if (options.output != "-" && options.output != "/dev/stdout") return;
  if (json)
    throw Error(ErrorKind::usage,
                "Standard output holds the picture or the JSON report, not both. Drop --json, or name a file "
                "with -o.");
  if (output_is_terminal())
    throw Error(ErrorKind::usage,
                "A picture is not written to a terminal. Redirect it, or name a file with -o.");
}

bool may_wait(const fs::path& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  return path == "-" || (fs::exists(status) && !fs::is_regular_file(status));
}

Patience patience_in(const BatchFile& file, Stage stage) {
  if (stage == Stage::writing) return may_wait(file.output) ? Patience::none : Patience::endless;
  return stage == Stage::reading && may_wait(file.input) ? Patience::none : Patience::short_one;
}

BatchEvents make_events(Progress& progress, bool quiet) {
  BatchEvents events;
  events.stage = [&progress](std::size_t index, std::size_t total, const BatchFile& file, Stage stage) {
    set_patience(patience_in(file, stage));
    progress.show(index, total, file.input.string());
  };
  events.finished = [&progress, quiet](const FileResult& result) {
    set_patience(Patience::short_one);
    if (result.error || !result.warnings.empty()) progress.clear();
    if (result.error) print_error(result.error->what());
    if (quiet) return;
    for (const std::string& warning : result.warnings)
      print_error("Warning: " + result.input.string() + ": " + warning);
  };
  events.cancelled = interrupted;
  return events;
}

int run_pipeline(const Pipeline& pipeline, const BatchOptions& options, const ParsedLine& line) {
  const bool json = line.flag("json");
  const bool quiet = line.flag("quiet");
  const DeviceOptions device_options = device_options_of(line);
  check_standard_output(options, json);
  const Batch batch = prepare_batch(pipeline, options);
  const Device device = Device::open(line.value("device").value_or("auto"), device_options);

  BatchResult result;
  {
    Progress progress(!quiet && error_is_terminal());
    result = run_batch(device, batch, make_events(progress, quiet));
  }
  if (const std::string summary = summary_of_failure(result); !summary.empty()) print_error(summary);
  if (json) print(json_report(pipeline, device.info(), result));
  return exit_code(result);
}

}  // namespace

int run_filter_command(const FilterRecord& filter, const ParsedLine& line) {
  return run_pipeline({step_of(filter, line)}, batch_options_of(line), line);
}

int run_pipeline_command(const ParsedLine& line) {
  if (line.arguments.empty())
    throw Error(ErrorKind::usage,
                "There is no pipeline: satin run \"blur radius=8 | ...\" INPUT... -o OUTPUT.");
  BatchOptions options = batch_options_of(line);
  options.inputs.erase(options.inputs.begin());
  return run_pipeline(parse_pipeline(line.arguments.front()), options, line);
}

}  // namespace satin::app

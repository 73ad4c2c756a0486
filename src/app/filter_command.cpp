#include "app/filter_command.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "app/batch_options.h"
#include "app/exit_code.h"
#include "app/gallery.h"
#include "app/interrupt.h"
#include "app/json_lines.h"
#include "app/progress.h"
#include "app/report.h"
#include "app/settings.h"
#include "app/terminal.h"
#include "satin/batch.h"
#include "satin/device.h"
#include "satin/error.h"
#include "satin/param.h"
#include "satin/pipeline.h"
#include "satin/plan.h"

namespace satin::app {
namespace {

namespace fs = std::filesystem;

PipelineStep step_of(const FilterRecord& filter, const ParsedLine& line) {
  PipelineStep step{parameters_of(filter, line), {}};
  for (const InputRecord& input : filter.inputs)
    if (const auto path = line.value(input.name)) step.side_inputs.push_back({input.name, *path});
  return step;
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

/// Where the results of a run go while it goes on.
class Listener {
 public:
  Listener(const ParsedLine& line, const BatchOptions& options, const Pipeline& pipeline,
           std::span<const Device> devices)
      : quiet_(line.flag("quiet")), progress_(!quiet_ && error_is_terminal()) {
    if (line.flag("json")) json_.emplace(pipeline, devices);
    if (!options.report.empty()) lines_.emplace(options.report, options.overwrite, options.resume);
    if (!options.gallery.empty())
      gallery_.emplace(options.gallery, print_pipeline(pipeline), options.overwrite || options.resume);
  }

  BatchEvents events() {
    BatchEvents events;
    events.stage = [](const BatchFile& file, Stage stage, bool begins) {
      const Patience patience = patience_in(file, stage);
      begins ? enter_stage(patience) : leave_stage(patience);
    };
    events.finished = [this](const FileResult& file, const BatchResult& so_far) { tell(file, so_far); };
    events.cancelled = interrupted;
    return events;
  }

  void finish(const BatchResult& result) {
    progress_.clear();
    if (const std::string summary = summary_of_failure(result); !summary.empty()) print_error(summary);
    if (lines_) lines_->finish(result);
    if (gallery_) gallery_->finish(result);
    if (json_) print(json_->finish(result));
  }

 private:
  void tell(const FileResult& file, const BatchResult& so_far) {
    if (file.error || !file.warnings.empty()) progress_.clear();
    if (file.error) print_error(file.error->what());
    if (!quiet_)
      for (const std::string& warning : file.warnings)
        print_error("Warning: " + file.input.string() + ": " + warning);
    if (json_) json_->add(file);
    if (lines_) lines_->add(file);
    if (gallery_) gallery_->add(file);
    progress_.show(so_far);
  }

  bool quiet_;
  Progress progress_;
  std::optional<JsonReport> json_;
  std::optional<JsonLines> lines_;
  std::optional<Gallery> gallery_;
};

const char* intention(const FileResult& file) {
  switch (file.status) {
    case FileStatus::done:
      return "write    ";
    case FileStatus::failed:
      return "fail     ";
    case FileStatus::exists:
      return "exists   ";
    case FileStatus::unchanged:
      return "unchanged";
  }
  return "";
}

/// --dry-run: a line for each file on standard output, as text or, with --json, as JSON.
int show_intentions(const Batch& batch, bool json) {
  BatchResult result;
  result.total = batch.size();
  if (!json) print("pipeline  " + print_pipeline(batch.pipeline) + "\n");
  foresee_batch(batch, [&](const FileResult& file) {
    result.count(file);
    if (json) {
      JsonWriter line;
      add_file(line, file);
      print(line.text() + "\n");
    } else {
      print(std::string(intention(file)) + " " + shown(file.input.native()) + " -> " +
            shown(file.output.native()) + "\n");
    }
    if (file.error) print_error(file.error->what());
  });
  return exit_code(result);
}

/// Those of "cuda:0,cuda:1".
std::vector<Device> open_devices(const ParsedLine& line, const DeviceOptions& options) {
  const std::string names = line.value("device").value_or("auto");
  std::vector<Device> devices;
  for (std::size_t first = 0; first <= names.size();) {
    const std::size_t comma = std::min(names.find(',', first), names.size());
    devices.push_back(Device::open(names.substr(first, comma - first), options));
    first = comma + 1;
  }
  return devices;
}

int run_pipeline(const Pipeline& pipeline, BatchOptions options, const ParsedLine& line) {
  const DeviceOptions device_options = device_options_of(line);
  const std::size_t memory_limit = memory_limit_of(line);
  check_standard_output(options, line.flag("json"));
  const Batch batch = prepare_batch(pipeline, options);
  options = BatchOptions{};  // the names may be many, and the batch has its own
  if (line.flag("dry-run")) return show_intentions(batch, line.flag("json"));
  const std::vector<Device> devices = open_devices(line, device_options);
  for (const Device& device : devices) limit_memory(device, memory_limit);
  // One signal ends a batch in good order, the second one at once.
  const PatientWork patient(batch.size() > 1 ? Patience::short_one : Patience::none);
  Listener listener(line, batch.options, pipeline, devices);
  const BatchResult result = run_batch(devices, batch, listener.events());
  listener.finish(result);
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
  return run_pipeline(parse_pipeline(line.arguments.front()), std::move(options), line);
}

}  // namespace satin::app

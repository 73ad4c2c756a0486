// The commands that filter files: every filter's command and `satin run`.
//
// The line becomes a pipeline and the options of a batch (a series of pipelines for several values of a
// parameter). The batch runs on one or several devices while a listener shows progress and writes the
// reports.

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/analysis.h"
#include "app/commands.h"
#include "app/interrupt.h"
#include "app/options.h"
#include "app/report.h"
#include "satin/batch.h"
#include "satin/batch_report.h"
#include "satin/device.h"
#include "satin/error.h"
#include "satin/filter.h"
#include "satin/param.h"
#include "satin/pipeline.h"
#include "satin/plan.h"

namespace satin::app {
namespace {

constexpr long most_pictures = 9999;

/// Prints a number with 12 digits, which hides the rounding error of decimals such as 0.1.
std::string rounded(double value) {
  std::array<char, 32> text{};
  const auto [end, code] =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, 12);
  return {text.data(), end};
}

double number(const std::string& option, std::string_view text) {
  constexpr double largest = std::numeric_limits<double>::max();
  return parse_real(option, text, -largest, largest);
}

/// Returns the values of a text "A..B/N" whose dots begin at `dots`.
std::vector<std::string> steps_of(const std::string& option, std::string_view text, std::size_t dots) {
  const std::size_t slash = text.rfind('/');
  if (slash == std::string_view::npos || slash < dots)
    throw Error(ErrorKind::usage,
                option + " " + std::string(text) + ": say how many values there are, such as 0.2..0.8/5.");
  std::string_view first = text.substr(0, dots);
  std::string_view last = text.substr(dots + 2, slash - dots - 2);
  const auto is_percent = [](std::string_view value) { return !value.empty() && value.back() == '%'; };
  const bool percent = is_percent(first);
  if (percent != is_percent(last))
    throw Error(ErrorKind::usage, option + " " + std::string(text) + ": both ends have a % sign, or none.");
  if (percent) {
    first.remove_suffix(1);
    last.remove_suffix(1);
  }
  const long count = parse_integer(option, text.substr(slash + 1), 2, most_pictures);
  const double from = number(option, first);
  const double to = number(option, last);
  std::vector<std::string> values;
  for (long i = 0; i < count; ++i)
    values.push_back(rounded(from + (to - from) * static_cast<double>(i) / static_cast<double>(count - 1)) +
                     (percent ? "%" : ""));
  return values;
}

/// Returns the values of "V,V,V", the N evenly spaced values of "A..B/N", or the text itself. Percentages
/// keep their signs. Throws Error(usage) with the option's name.
std::vector<std::string> series_values(const std::string& option, std::string_view text) {
  const std::size_t dots = text.find("..");
  return dots == std::string_view::npos ? split(text, ',') : steps_of(option, text, dots);
}

/// Returns a line for every picture of a series, one for each value of the parameters that vary
/// (ParameterRecord::varies), or only the line itself. Throws Error(usage) for lists of different lengths.
std::vector<ParsedLine> series_lines(const FilterRecord& filter, const ParsedLine& line) {
  std::vector<ParsedLine> lines;
  std::string first;
  for (std::size_t place = 0; place < line.options.size(); ++place) {
    const auto& [name, text] = line.options[place];
    const ParameterRecord* parameter = filter.find_parameter(name);
    if (parameter == nullptr || !parameter->varies) continue;
    const std::vector<std::string> values = series_values("--" + name, text);
    if (values.size() == 1) continue;
    if (lines.empty()) {
      lines.assign(values.size(), line);
      first = name;
    }
    if (lines.size() != values.size())
      throw Error(ErrorKind::usage, "--" + first + " has " + std::to_string(lines.size()) + " values and --" +
                                        name + " " + std::to_string(values.size()) +
                                        ": give as many, or one.");
    for (std::size_t i = 0; i < values.size(); ++i) lines[i].options[place].second = values[i];
  }
  if (lines.empty()) lines.push_back(line);
  return lines;
}

namespace fs = std::filesystem;

bool is_missing(const std::string& input) {
  std::error_code ignored;
  return input != "-" && !fs::exists(fs::symlink_status(input, ignored));
}

/// Returns the option that a number without a name most likely belongs to: the filter's strength, or its
/// first number; empty if it has none.
std::string option_for_number(const FilterRecord& filter) {
  const ParameterRecord* parameter = filter.find_parameter(ParameterRole::strength);
  constexpr std::array numbers = {ParameterKind::real,   ParameterKind::integer, ParameterKind::length,
                                  ParameterKind::radius, ParameterKind::size,    ParameterKind::reals};
  for (const ParameterRecord& each : filter.parameters)
    if (parameter == nullptr && std::ranges::find(numbers, each.kind) != numbers.end()) parameter = &each;
  return parameter == nullptr ? "" : "--" + parameter->name;
}

/// Refuses a number in place of a file. It may follow a letter that has no value, -r or -q, or lack its
/// option. `filter` is null for a pipeline.
void refuse_stray_value(const FilterRecord* filter, const ParsedLine& line) {
  for (const std::string& argument : line.arguments) {
    const bool is_number = argument.find_first_of("0123456789") != std::string::npos &&
                           argument.find_first_not_of("0123456789.x%") == std::string::npos;
    if (!is_number || !is_missing(argument)) continue;
    std::string option = filter == nullptr ? "" : option_for_number(*filter), letter;
    if (filter != nullptr && filter->find_parameter("radius") != nullptr && line.flag("recursive")) {
      option = "--radius";
      letter = ", and -r means --recursive";
    } else if (line.flag("quiet")) {
      option = "--jpeg-quality";
      letter = ", and -q means --quiet";
    }
    if (!option.empty())
      throw Error(ErrorKind::usage, "There is no file '" + argument + "'" + letter + ". Did you mean " +
                                        option + " " + argument + "?");
  }
}

/// Refuses the f-number of a lens where the filter expects a picture of its aperture.
void refuse_number_for_aperture(const FilterRecord& filter, const ParsedLine& line) {
  const auto input = std::ranges::find(filter.inputs, Role::aperture, &InputRecord::role);
  const auto path = input == filter.inputs.end() ? std::nullopt : line.value(input->name);
  if (!path || !is_missing(*path) || filter.find_parameter("f-number") == nullptr) return;
  const std::string number = path->starts_with("f/") ? path->substr(2) : *path;
  if (number.empty() || number.find_first_not_of("0123456789.") != std::string::npos) return;
  throw Error(ErrorKind::usage, "--" + input->name + " '" + *path + "': there is no such picture of an " +
                                    "aperture. Did you mean --f-number " + number + "?");
}

/// Refuses a missing last file without -o, which other programs would take as the output.
void refuse_bare_output(const std::vector<std::string>& names, const ParsedLine& line) {
  if (names.size() < 2 || line.value("output") || line.flag("in-place") || !is_missing(names.back())) return;
  throw Error(ErrorKind::usage, "There is no output, and no file '" + names.back() + "'. Did you mean -o " +
                                    names.back() + "?");
}

/// Refuses a pipeline without quotes, which the shell has split into words in place of files.
void refuse_pieces(const std::vector<std::string>& arguments) {
  std::string whole = arguments.front();
  const auto is_piece = [](const std::string& text) {
    const bool is_filter = std::any_of(filters().begin(), filters().end(),
                                       [&](const FilterRecord& filter) { return filter.name == text; });
    return is_missing(text) && (is_filter || text == "|" || text.find('=') != std::string::npos);
  };
  std::size_t pieces = 1;
  while (pieces < arguments.size() && is_piece(arguments[pieces])) whole += " " + arguments[pieces++];
  if (pieces == 1) return;
  throw Error(ErrorKind::usage, "There is no file '" + arguments[1] +
                                    "'. A pipeline is one argument, in quotes: satin run \"" + whole +
                                    "\" ...");
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

Patience patience_in(const BatchFile& file, Stage stage) {
  if (stage == Stage::writing) return patience_to_write(file.output);
  return stage == Stage::reading && may_wait(file.input) ? Patience::none : Patience::short_one;
}

constexpr std::size_t bar_width = 24;

std::string bar(std::size_t finished, std::size_t total) {
  const std::size_t filled = total == 0 ? bar_width : bar_width * finished / total;
  std::string text(filled, '=');
  if (filled < bar_width) text += '>';
  text.resize(bar_width, ' ');
  return "[" + text + "]";
}

std::string duration(double seconds) {
  const auto whole = static_cast<long long>(std::ceil(seconds));
  if (whole < 60) return std::to_string(whole) + " s";
  if (whole < 3600) return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  return std::to_string(whole / 3600) + " h " + std::to_string(whole / 60 % 60) + " min";
}

/// Returns "[=====> ] 41 of 120, 3.5/s, 23 s left, 2 failed" after `seconds` of work.
std::string progress_line(const BatchResult& so_far, double seconds) {
  const std::size_t finished = so_far.total - so_far.not_started();
  const std::size_t worked = finished - so_far.skipped;  // files that are left out say nothing about the rate
  std::string line =
      bar(finished, so_far.total) + " " + std::to_string(finished) + " of " + std::to_string(so_far.total);
  if (worked != 0 && seconds > 0) {
    const double rate = static_cast<double>(worked) / seconds;
    line += ", " + short_number(rate, rate < 10 ? 1 : 0) + "/s, " +
            duration(static_cast<double>(so_far.not_started()) / rate) + " left";
  }
  if (so_far.skipped != 0) line += ", " + std::to_string(so_far.skipped) + " left out";
  if (so_far.failed != 0) line += ", " + std::to_string(so_far.failed) + " failed";
  return line;
}

/// Returns "[=====> ] 41 %, 12 s" for a single file; without the bar while no share is known.
std::string progress_line(double done, double seconds) {
  constexpr std::size_t whole = 100;
  const auto percent = static_cast<std::size_t>(done * whole);
  const std::string share =
      percent == 0 ? "filtering" : bar(percent, whole) + " " + std::to_string(percent) + " %";
  return share + ", " + duration(std::floor(seconds));
}

/// A line on the terminal that shows the progress of a batch. Any thread may call it.
class Progress {
 public:
  explicit Progress(bool enabled) : enabled_(enabled) {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }

  // Neither function shows anything in the first second.
  void show(const BatchResult& so_far) {
    show_line([&](double seconds) { return progress_line(so_far, seconds); });
  }
  void show(double done) {
    show_line([&](double seconds) { return progress_line(done, seconds); });
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    clear_line();
  }

 private:
  using Clock = std::chrono::steady_clock;

  /// Shows line(seconds since the start), at most every 100 ms.
  template <class Line>
  void show_line(const Line& line) {
    if (!enabled_) return;
    const std::lock_guard lock(mutex_);
    const Clock::time_point now = Clock::now();
    if (now < next_) return;
    next_ = now + std::chrono::milliseconds(100);
    const std::string text = line(std::chrono::duration<double>(now - start_).count());
    clear_line();
    width_ = text.size();
    std::cerr << '\r' << text << std::flush;
  }

  void clear_line() {
    if (width_ == 0) return;
    std::cerr << '\r' << std::string(width_, ' ') << '\r' << std::flush;
    width_ = 0;
  }

  bool enabled_;
  std::mutex mutex_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_ = start_ + std::chrono::seconds(1);
  std::size_t width_ = 0;
};

void add_step(JsonWriter& json, const PipelineStep& step) {
  json.begin_object();
  add_filter(json, step.parameters);
  json.key("inputs").begin_object();
  for (const SideInput& side : step.side_inputs) json.key(side.name).string(side.path.string());
  json.end_object().end_object();
}

/// The JSON object that --json prints after a run.
class JsonReport {
 public:
  JsonReport(const Pipeline& pipeline, std::span<const Device> devices) {
    json_.begin_object().key("steps").array(pipeline, [&](const auto& step) { add_step(json_, step); });
    json_.key("pipeline").string(print_pipeline(pipeline));
    add_device(json_, devices.front().info());
    if (devices.size() > 1)
      json_.key("other_devices").array(devices.subspan(1), [&](const Device& device) {
        json_.string(device.info().id);
      });
    json_.key("files").begin_array();
  }

  void add(const FileResult& file) { add_file(json_, file); }

  [[nodiscard]] std::string finish(const BatchResult& result) {
    json_.end_array();
    add_outcome(json_, result, exit_code(result));
    add_summary(json_, result);
    return json_.end_object().text() + "\n";
  }

 private:
  JsonWriter json_;
};

/// Passes the events of a run to the terminal, the reports and the gallery.
class Listener {
 public:
  Listener(const ParsedLine& line, const Batch& batch, std::span<const Device> devices)
      : quiet_(line.flag("quiet")), single_(batch.size() == 1), progress_(!quiet_ && error_is_terminal()) {
    const BatchOptions& options = batch.options;
    const Pipeline& pipeline = batch.pipeline;
    if (line.flag("json")) json_.emplace(pipeline, devices);
    if (!options.report.empty()) lines_.emplace(options.report, options.overwrite, options.resume);
    if (!options.gallery.empty())
      gallery_.emplace(options.gallery, pipeline, options.read, options.overwrite || options.resume);
  }

  BatchEvents events() {
    BatchEvents events;
    events.stage = [](const BatchFile& file, Stage stage, bool begins) {
      const Patience patience = patience_in(file, stage);
      begins ? enter_stage(patience) : leave_stage(patience);
    };
    if (single_) events.filtering = [this](const BatchFile&, double done) { progress_.show(done); };
    events.finished = [this](const FileResult& file, const BatchResult& so_far) { tell(file, so_far); };
    events.cancelled = interrupted;
    return events;
  }

  void finish(const BatchResult& result) {
    progress_.clear();
    if (!quiet_ && !result.unread.empty()) print_error(describe_unread(result.unread));
    if (const std::string summary = summary_of_failure(result); !summary.empty()) print_error(summary);
    if (lines_) lines_->finish(result, exit_code(result));
    if (gallery_) {
      const PatientWork patient(Patience::endless);
      gallery_->finish(result);
    }
    if (json_) print(json_->finish(result));
  }

 private:
  void tell(const FileResult& file, const BatchResult& so_far) {
    if (file.error || !file.warnings.empty()) progress_.clear();
    if (file.error) print_error(file.error->what());
    if (!quiet_)
      for (const std::string& warning : file.warnings)
        print_error("Warning: " + printable(file.input.native()) + ": " + warning);
    if (json_) json_->add(file);
    if (lines_) lines_->add(file);
    if (gallery_) gallery_->add(file);
    if (!single_) progress_.show(so_far);
  }

  bool quiet_;
  bool single_;  ///< whether the batch makes one picture
  Progress progress_;
  std::optional<JsonReport> json_;
  std::optional<JsonLines> lines_;
  std::optional<Gallery> gallery_;
};

const char* intention(const FileResult& file) {
  constexpr std::array words{"write    ", "fail     ", "exists   ", "unchanged",
                             "repeated "};  // in the order of FileStatus
  return words.at(static_cast<std::size_t>(file.status));
}

/// Prints a line for each file on standard output for --dry-run, as text or, with --json, as JSON.
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
      print(std::string(intention(file)) + " " + printable(file.input.native()) + " -> " +
            printable(file.output.native()) + "\n");
    }
    if (file.error) print_error(file.error->what());
  });
  if (batch.unread.empty()) return exit_code(result);
  print_error(describe_unread(batch.unread));
  if (json) {
    JsonWriter line;
    line.begin_object();
    add_unread(line, batch.unread);
    print(line.end_object().text() + "\n");
  }
  return exit_code(result);
}

/// Opens the devices that --device names, such as "cuda:0,cuda:1". Nothing is computed in a conversion: it
/// does without a GPU.
std::vector<Device> open_devices(const Pipeline& pipeline, const ParsedLine& line,
                                 const DeviceOptions& options) {
  const bool converts = &pipeline.front().parameters.filter() == &convert_record();
  std::vector<Device> devices;
  for (const std::string& name : split(line.value("device").value_or(converts ? "cpu" : "auto"), ','))
    devices.push_back(Device::open(name, options));
  return devices;
}

int run_pipeline(const Pipeline& pipeline, BatchOptions options, const ParsedLine& line) {
  const DeviceOptions device_options = device_options_of(line);
  const std::size_t memory_limit = bytes_of(line, "memory-limit");
  check_standard_output(options, line.flag("json"));
  const Batch batch = prepare_batch(pipeline, options);
  options = BatchOptions{};  // the names may be many, and the batch has its own
  if (const std::string notice = batch.notice(); !notice.empty() && !line.flag("quiet")) print_error(notice);
  if (line.flag("dry-run")) return show_intentions(batch, line.flag("json"));
  const std::vector<Device> devices = open_devices(pipeline, line, device_options);
  for (const Device& device : devices) limit_memory(device, memory_limit);
  // The first signal ends a batch after its current stages, the second one at once.
  const PatientWork patient(batch.size() > 1 ? Patience::short_one : Patience::none);
  Listener listener(line, batch, devices);
  const BatchResult result = run_batch(devices, batch, listener.events());
  listener.finish(result);
  return exit_code(result);
}

}  // namespace

int run_filter_command(const CommandSpec& command, const ParsedLine& line) {
  refuse_stray_value(command.filter, line);
  refuse_number_for_aperture(*command.filter, line);
  refuse_bare_output(line.arguments, line);
  BatchOptions options = batch_options_of(line);
  if (command.name == depth_command_name) {
    options.picture_from = PictureSource::model_depth;
    const bool names_files = options.output.has_extension() || options.output == "-";
    if (options.format.empty() && !names_files)
      options.format = ".tif";  // photographs are no format of depth
  }
  for (const ParsedLine& of_picture : series_lines(*command.filter, line))
    options.series.push_back({step_of(*command.filter, of_picture)});
  const Pipeline pipeline = options.series.front();
  if (options.series.size() == 1) options.series.clear();
  return run_pipeline(pipeline, std::move(options), line);
}

int run_pipeline_command(const CommandSpec& /*command*/, const ParsedLine& line) {
  if (line.arguments.empty())
    throw Error(ErrorKind::usage,
                "There is no pipeline: satin run \"blur radius=8 | ...\" INPUT... -o OUTPUT.");
  if (line.arguments.size() == 1 && !is_missing(line.arguments.front()))
    throw Error(ErrorKind::usage, "There is no pipeline before '" + line.arguments.front() +
                                      "': satin run 'blur radius=8 | unsharp' " + line.arguments.front() +
                                      " -o OUTPUT.");
  refuse_pieces(line.arguments);
  BatchOptions options = batch_options_of(line);
  options.inputs.erase(options.inputs.begin());
  refuse_stray_value(nullptr, line);
  return run_pipeline(parse_pipeline(line.arguments.front()), std::move(options), line);
}

}  // namespace satin::app

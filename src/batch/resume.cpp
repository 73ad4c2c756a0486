#include "batch/resume.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <set>
#include <string>
#include <system_error>

#include "batch/file_stamp.h"
#include "batch/inputs.h"
#include "batch/names.h"
#include "satin/error.h"
#include "satin/version.h"

namespace satin::batch {
namespace {

namespace fs = std::filesystem;

/// Everything beside the picture that decides the bytes of the output.
std::uint64_t hash_of_work(const Batch& work, std::size_t index) {
  Hash hash;
  hash.add(print_pipeline(work.pipeline)).add(std::uint64_t{0}).add(work.options.format);
  hash.add(std::uint64_t{0}).add(std::string_view(version()));
  const BatchOptions& options = work.options;
  hash.add(static_cast<std::uint64_t>(options.quality.value_or(0)))
      .add(std::uint64_t{options.dither})
      .add(std::uint64_t{options.strip})
      .add(std::uint64_t{options.read.allow_partial});
  if (options.jpeg_decoder == JpegDecoder::nvjpeg || options.read.nvjpeg) hash.add("nvjpeg");
  for (const PipelineStep& step : work.pipeline) {
    for (const SideInput& side : step.side_inputs) {
      const FileStamp stamp = stamp_of(work.side_path(side, index));
      hash.add(stamp.size).add(static_cast<std::uint64_t>(stamp.time));
    }
  }
  return hash.value();
}

bool is_unchanged(const Made& before, const Made& now, const fs::path& output) {
  return before.finished && before.input == now.input && before.work == now.work &&
         stamp_of(output).size == before.size && hash_of_file(output) == before.hash;
}

bool is_running(ProcessId process) { return ::kill(static_cast<pid_t>(process), 0) == 0 || errno != ESRCH; }

void remove_temporaries_of(const std::set<std::string>& beginnings, const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().native();
    const std::size_t last_dash = name.find_last_of('-');
    std::error_code ignored;
    if (last_dash != std::string::npos && name.ends_with(".tmp") &&
        beginnings.count(name.substr(0, last_dash + 1)) != 0)
      fs::remove(entry->path(), ignored);
  }
}

}  // namespace

fs::path manifest_file(const BatchOptions& options, bool folder_output) {
  if (is_stream(options.output))
    throw Error(ErrorKind::usage, "--resume needs an output that stays. Name a file or a folder with -o.");
  fs::path folder = options.output;
  if (NamePattern::is_one(options.output))
    folder = NamePattern(options.output).fixed_folder();
  else if (!folder_output)
    folder = options.output.parent_path();
  return folder / ".satin-manifest";
}

Decision decide(const Batch& work, std::size_t index, const BatchFile& file) {
  const BatchOptions& options = work.options;
  std::error_code ignored;
  if (is_stream(file.output) || !fs::is_regular_file(file.output, ignored)) return Decision::make;
  if (options.skip_existing) return Decision::leave_existing;
  if (const Made* before = work.manifest ? work.manifest->find(file.output) : nullptr)
    return is_unchanged(*before, made_now(work, index, file), file.output) ? Decision::leave_unchanged
                                                                           : Decision::replace;
  return options.overwrite ? Decision::replace : Decision::make;
}

Made made_now(const Batch& work, std::size_t index, const BatchFile& file) {
  Made made;
  made.input = stamp_of(file.input);
  made.work = hash_of_work(work, index);
  made.finished = true;
  return made;
}

void remove_left_over_files(const Batch& work) {
  std::set<std::string> beginnings;
  for (const ProcessId process : work.manifest->processes())
    if (!is_running(process)) beginnings.insert(".satin-" + std::to_string(process) + "-");
  if (beginnings.empty()) return;
  std::set<fs::path> folders;
  for (std::size_t i = 0; i < work.size(); ++i) folders.insert(folder_of(work.file(i).output));
  for (const fs::path& folder : folders) remove_temporaries_of(beginnings, folder);
}

}  // namespace satin::batch

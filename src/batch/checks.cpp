#include "batch/checks.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "batch/inputs.h"
#include "batch/quoted.h"

namespace satin::batch {
namespace {

namespace fs = std::filesystem;

/// What makes two names the same file, through any links.
using Identity = std::pair<dev_t, ino_t>;

struct Status {
  Identity identity;
  bool regular = false;
  bool folder = false;
};

std::optional<Status> status_of(const fs::path& path) {
  struct stat status {};
  if (is_stream(path) || ::stat(path.c_str(), &status) != 0) return std::nullopt;
  return Status{{status.st_dev, status.st_ino}, S_ISREG(status.st_mode), S_ISDIR(status.st_mode)};
}

void check_distinct(const std::vector<BatchFile>& files) {
  std::error_code ignored;
  const bool links = std::any_of(files.begin(), files.end(),
                                 [&](const BatchFile& file) { return fs::is_symlink(file.output, ignored); });
  std::unordered_map<std::string, const BatchFile*> owners;
  for (const BatchFile& file : files) {
    const fs::path real = links ? fs::weakly_canonical(file.output, ignored) : file.output.lexically_normal();
    const auto [owner, is_new] = owners.emplace(real.string(), &file);
    if (is_new) continue;
    throw Error(ErrorKind::usage, quoted(owner->second->input) + " and " + quoted(file.input) +
                                      " would both be written to " + quoted(file.output) +
                                      ".\nRename one of them, or run them separately.");
  }
}

std::map<Identity, fs::path> identities_of_inputs(const Batch& work) {
  std::map<Identity, fs::path> inputs;
  for (const BatchFile& file : work.files)
    if (const auto status = status_of(file.input)) inputs.emplace(status->identity, file.input);
  for (const PipelineStep& step : work.pipeline)
    for (const SideInput& side : step.side_inputs)
      if (const auto status = status_of(side.path)) inputs.emplace(status->identity, side.path);
  return inputs;
}

void check_existing(const Batch& work) {
  const std::map<Identity, fs::path> inputs = identities_of_inputs(work);
  std::size_t existing = 0;
  fs::path first;
  for (const BatchFile& file : work.files) {
    const auto status = status_of(file.output);
    if (!status) continue;
    if (status->folder)
      throw Error(ErrorKind::usage, "The output " + quoted(file.output) + " is a folder. Name a file.");
    if (!status->regular) continue;
    if (const auto input = inputs.find(status->identity); input != inputs.end())
      throw Error(ErrorKind::usage, "The output " + quoted(file.output) + " is the same file as the input " +
                                        quoted(input->second) + ".\nName another output.");
    if (existing++ == 0) first = file.output;
  }
  if (existing == 0 || work.options.overwrite) return;
  const std::string others = existing == 1 ? "" : " and " + std::to_string(existing - 1) + " more";
  throw Error(ErrorKind::usage,
              "The output " + quoted(first) + others + " exists already. --overwrite replaces it.");
}

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

void check_folder_of_single(const fs::path& folder) {
  std::error_code ignored;
  const fs::file_status status = fs::status(folder, ignored);
  if (!fs::exists(status))
    throw Error(ErrorKind::usage, "The folder " + quoted(folder) + " does not exist. Create it first.");
  if (!fs::is_directory(status))
    throw Error(ErrorKind::usage, quoted(folder) + " is not a folder. Name another output.");
}

fs::path nearest_existing(fs::path folder) {
  std::error_code ignored;
  while (!fs::exists(fs::status(folder, ignored))) folder = folder_of(folder.lexically_normal());
  return folder;
}

void check_permission(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored))
    throw Error(ErrorKind::usage, quoted(folder) + " is a file, not a folder. Name another output.");
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    throw Error(ErrorKind::input,
                "The folder " + quoted(folder) + " cannot be written: " + std::strerror(errno) + ".");
}

}  // namespace

void check_outputs(const Batch& work, bool folder) {
  check_distinct(work.files);
  check_existing(work);
  std::set<fs::path> folders;
  for (const BatchFile& file : work.files) {
    const auto status = status_of(file.output);
    const bool needs_folder = !is_stream(file.output) && (!status || status->regular);
    if (needs_folder) folders.insert(folder_of(file.output));
  }
  for (const fs::path& path : folders) {
    if (!folder) check_folder_of_single(path);
    check_permission(nearest_existing(path));
  }
}

}  // namespace satin::batch

#include "batch/checks.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "batch/file_stamp.h"
#include "batch/inputs.h"
#include "batch/manifest.h"
#include "batch/names.h"
#include "batch/outputs.h"
#include "batch/side_inputs.h"
#include "satin/io.h"

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

/// The name of an output without links on the way, as far as it exists. Remembers the last folder.
class RealNames {
 public:
  std::string of(const fs::path& output) {
    std::error_code ignored;
    if (fs::is_symlink(output, ignored)) return fs::weakly_canonical(output, ignored).native();
    const fs::path folder = output.parent_path();
    if (!known_ || folder != folder_) {
      known_ = true;
      folder_ = folder;
      real_ = fs::weakly_canonical(folder.empty() ? "." : folder, ignored);
    }
    return (real_ / output.filename()).native();
  }

 private:
  bool known_ = false;
  fs::path folder_;
  fs::path real_;
};

[[noreturn]] void refuse_collision(const BatchFile& first, const BatchFile& second) {
  throw Error(ErrorKind::usage, quoted(first.input) + " and " + quoted(second.input) +
                                    " would both be written to " + quoted(second.output) +
                                    ".\nRename one of them, or run them separately.");
}

struct Owner {
  Identity identity;
  std::size_t file;
};

/// Every file that is read, with the number of the input (or one past the last for a side input).
std::vector<Owner> identities_of_inputs(const Batch& work) {
  std::vector<Owner> inputs;
  const auto add = [&](const fs::path& path, std::size_t file) {
    if (const auto status = status_of(path)) inputs.push_back({status->identity, file});
  };
  for (std::size_t i = 0; i < work.files.size(); ++i) {
    add(work.files.path(i), i);
    for (const PipelineStep& step : work.pipeline)
      for (const SideInput& side : step.side_inputs)
        if (is_side_pattern(side) || i == 0) add(work.side_path(side, i * work.series()), work.files.size());
  }
  std::sort(inputs.begin(), inputs.end(),
            [](const Owner& a, const Owner& b) { return a.identity < b.identity; });
  return inputs;
}

void refuse_input(const Batch& work, const std::vector<Owner>& inputs, const fs::path& output,
                  const Identity& identity) {
  const auto found =
      std::lower_bound(inputs.begin(), inputs.end(), identity,
                       [](const Owner& owner, const Identity& wanted) { return owner.identity < wanted; });
  if (found == inputs.end() || found->identity != identity) return;
  const std::string name =
      found->file < work.files.size() ? "the input " + quoted(work.files.path(found->file)) : "a side input";
  throw Error(ErrorKind::usage,
              "The output " + quoted(output) + " is the same file as " + name + ".\nName another output.");
}

bool may_exist(const Batch& work, const fs::path& output) {
  const BatchOptions& options = work.options;
  return options.overwrite || options.skip_existing || (work.manifest && work.manifest->knows(output));
}

void check_existing(const Batch& work) {
  std::vector<Owner> inputs;
  std::size_t existing = 0;
  fs::path first;
  for (std::size_t i = 0; i < work.size(); ++i) {
    const fs::path output = work.file(i).output;
    const auto status = status_of(output);
    if (!status) continue;
    if (status->folder)
      throw Error(ErrorKind::usage, "The output " + quoted(output) + " is a folder. Name a file.");
    if (!status->regular) {
      check_target(output, true);
      continue;
    }
    if (inputs.empty()) inputs = identities_of_inputs(work);
    refuse_input(work, inputs, output, status->identity);
    if (!may_exist(work, output) && existing++ == 0) first = output;
  }
  if (existing == 0) return;
  const bool one = existing == 1;
  const std::string others = one ? " exists" : " and " + std::to_string(existing - 1) + " more exist";
  const std::string them = one ? "it" : "them";
  const std::string left = " leaves " + them + ", --overwrite replaces " + them + ".";
  throw Error(ErrorKind::usage, "The output " + quoted(first) + others + " already" +
                                    (work.manifest ? ", and the manifest of --resume does not know " + them +
                                                         ".\n--skip-existing in place of --resume" + left
                                                   : ". --skip-existing" + left));
}

/// For a file beside the outputs, which `what` names.
void check_by_product(const Batch& work, const std::string& what, const fs::path& path) {
  if (path.empty()) return;
  RealNames names;
  const std::string real = names.of(path);
  for (std::size_t i = 0; i < work.size(); ++i)
    if (names.of(work.file(i).output) == real)
      throw Error(ErrorKind::usage,
                  "The " + what + " " + quoted(path) + " is an output as well. Name another file.");
  if (const auto status = status_of(path))
    refuse_input(work, identities_of_inputs(work), path, status->identity);
}

void check_gallery(const Batch& work) {
  const fs::path& page = work.options.gallery;
  if (page.empty()) return;
  if (is_stream(page))
    throw Error(ErrorKind::usage,
                "The gallery has pictures beside it. Name a file for it, such as page.html.");
  check_by_product(work, "gallery", page);
  if (!work.options.report.empty() && RealNames().of(page) == RealNames().of(work.options.report))
    throw Error(ErrorKind::usage,
                "The gallery " + quoted(page) + " is the report as well. Name another file.");
  const bool may_replace = work.options.overwrite || work.options.resume;
  check_target(page, may_replace);
  const fs::path folder = folder_of_gallery(page);
  const auto status = status_of(folder);
  if (status && !status->folder)
    throw Error(ErrorKind::usage,
                quoted(folder) + " is a file, but the gallery needs a folder of that name.");
  if (status && !may_replace)
    throw Error(ErrorKind::usage, "The folder " + quoted(folder) +
                                      " of the gallery exists already. --overwrite puts pictures into it.");
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

void check_distinct(const Batch& work) {
  RealNames names;
  std::vector<std::pair<std::uint64_t, std::size_t>> outputs;
  outputs.reserve(work.size());
  for (std::size_t i = 0; i < work.size(); ++i) {
    const BatchFile file = work.file(i);
    // What is no picture by its name fails by itself, and lets the others be done.
    if (work.folder_output && work.options.format.empty() && is_picture(file.input) &&
        output_kind(work.pipeline) != OutputKind::json)
      check_extension(file.output);
    if (!is_stream(file.output)) outputs.emplace_back(Hash().add(names.of(file.output)).value(), i);
  }
  std::sort(outputs.begin(), outputs.end());
  for (std::size_t i = 1; i < outputs.size(); ++i) {
    for (std::size_t k = i; k > 0 && outputs[k - 1].first == outputs[i].first; --k) {
      const BatchFile first = work.file(outputs[k - 1].second);
      const BatchFile second = work.file(outputs[i].second);
      if (names.of(first.output) == names.of(second.output)) refuse_collision(first, second);
    }
  }
}

void check_outputs(const Batch& work) {
  check_existing(work);
  check_by_product(work, "report", work.options.report);
  check_gallery(work);
  std::set<fs::path> folders;
  for (std::size_t i = 0; i < work.size(); ++i) {
    const fs::path output = work.file(i).output;
    const auto status = status_of(output);
    const bool needs_folder = !is_stream(output) && (!status || status->regular);
    if (needs_folder) folders.insert(folder_of(output));
  }
  for (const fs::path& path : folders) {
    if (!work.folder_output) check_folder_of_single(path);
    check_permission(nearest_existing(path));
  }
}

}  // namespace satin::batch

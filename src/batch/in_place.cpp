#include "batch/in_place.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <system_error>

#include "batch/file_names.h"
#include "batch/file_stamp.h"
#include "satin/error.h"
#include "satin/io.h"

namespace satin::batch {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::usage, what); }

fs::path backup_of(const fs::path& file, const BatchOptions& options) {
  return fs::path(file.native() + *options.backup);
}

void check_suffix(const std::string& suffix) {
  if (suffix.empty() || suffix.find('/') != std::string::npos)
    refuse("--backup '" + suffix + "': give the end of a name, such as .orig.");
  if (is_picture("picture" + suffix))
    refuse("--backup '" + suffix +
           "': a later run would filter the backups, too. Give an end that no picture has, such as .orig.");
}

/// Returns the entry of the run that made the file as it is now, if there was one.
std::optional<OutputRecord> made_in_place(const Batch& work, const fs::path& file) {
  const std::uint64_t size = stamp_of(file).size;
  std::optional<std::uint64_t> hash;
  for (const OutputRecord& made : work.manifest->find(file)) {
    if (!made.finished || made.size != size) continue;
    if (!hash) hash = hash_of_file(file);
    if (made.hash == *hash) return made;
  }
  return std::nullopt;
}

/// Whether an earlier run with the same settings got as far as this file.
bool knows_work(const Batch& work, std::size_t index) {
  const BatchFile file = work.file(index);
  const std::uint64_t now = record_now(work, index, file).work;
  return std::ranges::any_of(work.manifest->find(file.output),
                             [&](const OutputRecord& made) { return made.finished && made.work == now; });
}

[[noreturn]] void refuse_repetition(const Batch& work, const fs::path& file) {
  refuse(quoted(file) + " was filtered in place already" +
         (work.options.resume ? ", with other settings. --overwrite filters such files once more."
                              : ". --resume skips such files, --overwrite filters them once more."));
}

void refuse_backup(const fs::path& file, const BatchOptions& options) {
  if (!options.backup) return;
  const fs::path backup = backup_of(file, options);
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(backup, ignored)) || same_file(backup, file)) return;
  refuse("The backup " + quoted(backup) + " exists already. Move it away, or give another --backup SUFFIX.");
}

}  // namespace

void check_in_place_options(const Pipeline& pipeline, const BatchOptions& options) {
  if (!options.in_place) {
    if (options.backup) refuse("--backup keeps what --in-place replaces. Add --in-place, or drop --backup.");
    return;
  }
  if (options.backup) check_suffix(*options.backup);
  if (output_kind(pipeline) != OutputKind::image)
    refuse("--in-place: '" + pipeline.back().parameters.filter().name +
           "' makes no picture that could replace one. Name an output with -o.");
  if (std::ranges::any_of(options.inputs, is_stream))
    refuse("--in-place: standard input is no file that could be replaced. Name a file.");
  const bool reads_part = options.read.page || !options.read.part.empty();
  const std::array<std::pair<bool, const char*>, 7> refused = {
      {{!options.output.empty(), "-o: the results replace the inputs. Drop one of them."},
       {!options.series.empty(), "several values of a parameter: a file holds one result. Give one value."},
       {!options.format.empty(), "--format: every file keeps its format. Drop --format, or name an output."},
       {options.skip_existing,
        "--skip-existing, which would skip every file. --resume skips finished files."},
       {options.picture_from != PictureSource::file,
        "depth or a mask from a model: the photographs would be lost. Name an output with -o."},
       {reads_part, "--page and --part: the other pages would be lost. Name an output with -o."},
       {options.read.allow_partial,
        "--allow-partial: what is left of a damaged file would be lost. Name an output with -o."}}};
  for (const auto& [given, reason] : refused)
    if (given) refuse(std::string("--in-place cannot be combined with ") + reason);
}

void check_in_place_formats(const Batch& work) {
  for (std::size_t i = 0; i < work.files.size(); ++i) {
    const fs::path file = work.files.path(i);
    const std::string extension = file.extension().string();
    if (is_picture(file) && !is_extension_of(&FormatInfo::writes, extension))
      refuse("--in-place: " + quoted(file) + " cannot be replaced, because " + extension +
             " is read and not written. Name an output, such as -o results/ --format jpg.");
  }
}

void check_in_place(const Batch& work) {
  const BatchOptions& options = work.options;
  for (std::size_t i = 0; i < work.size(); ++i) {
    const fs::path file = work.files.path(i);
    std::error_code ignored;
    const fs::file_status status = fs::symlink_status(file, ignored);
    if (fs::is_symlink(status))
      refuse("--in-place: " + quoted(file) + " is a symbolic link, and the file behind it is left alone. " +
             "Name that file itself.");
    if (!fs::exists(status)) continue;  // reading it reports the reason
    if (!fs::is_regular_file(status)) refuse("--in-place: " + quoted(file) + " is not a file.");
    if (!options.resume || !knows_work(work, i)) static_cast<void>(decide_in_place(work, i, file));
  }
}

Decision decide_in_place(const Batch& work, std::size_t index, const fs::path& file) {
  const BatchOptions& options = work.options;
  const std::optional<OutputRecord> made =
      options.overwrite && !options.resume ? std::nullopt : made_in_place(work, file);
  if (made && options.resume && made->work == record_now(work, index, work.file(index)).work)
    return {FileStatus::unchanged, false, *made};
  if (made && !options.overwrite) refuse_repetition(work, file);
  refuse_backup(file, options);
  return {FileStatus::done, true};
}

void keep_backup(const fs::path& file, const BatchOptions& options) {
  if (!options.backup) return;
  const fs::path backup = backup_of(file, options);
  if (::link(file.c_str(), backup.c_str()) == 0 || same_file(backup, file)) return;
  std::error_code error;
  const fs::file_time_type time = fs::last_write_time(file, error);
  if (!error) fs::copy_file(file, backup, fs::copy_options::none, error);
  if (error)
    throw Error(ErrorKind::input, "the backup " + quoted(backup) + " cannot be made: " + error.message() +
                                      ". The file was left alone.");
  fs::last_write_time(backup, time, error);
}

}  // namespace satin::batch

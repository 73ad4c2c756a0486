#include "batch/manifest.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <optional>
#include <system_error>

#include "batch/file_names.h"
#include "batch/in_place.h"
#include "batch/outputs.h"
#include "satin/error.h"
#include "satin/param.h"
#include "satin/version.h"

namespace satin::batch {
namespace {

namespace fs = std::filesystem;

constexpr const char* manifest_name = ".satin-manifest";
constexpr std::string_view first_line = "satin-manifest 1";
constexpr std::size_t longest_line = 16384;  // a path of 4096 bytes, each as %XX, and five numbers

/// Returns the name relative to the folder of the manifest, as one word.
std::string name_in(const fs::path& manifest, const fs::path& output, bool in_place) {
  return (in_place ? "./" : "") +
         reference(output, manifest, [](char c) { return c > 0x20 && c < 0x7F && c != '%'; });
}

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name.front() == '\0') return "unknown";
  return name.data();
}

template <class Number>
bool take_number(std::string_view text, Number& number) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  return code == std::errc() && end == text.data() + text.size();
}

std::optional<OutputRecord> record_of(const std::vector<std::string>& words) {
  OutputRecord made;
  made.finished = true;
  const bool whole = words.size() == 7 && take_number(words[2], made.input.size) &&
                     take_number(words[3], made.input.time) && take_number(words[4], made.work) &&
                     take_number(words[5], made.size) && take_number(words[6], made.hash);
  if (!whole) return std::nullopt;
  return made;
}

/// Whether the last line is complete. True for a missing or empty file.
bool ends_with_whole_line(const fs::path& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file || file.tellg() == 0) return true;
  file.seekg(-1, std::ios::end);
  return file.get() == '\n';
}

[[noreturn]] void fail(const fs::path& file, const std::string& what) {
  const bool full = errno == ENOSPC || errno == EDQUOT;
  throw Error(full ? ErrorKind::environment : ErrorKind::input,
              "The manifest " + quoted(file) + " cannot be " + what + ": " + std::strerror(errno) + ".");
}

/// Returns the hash of everything beside the picture that determines the bytes of the output.
std::uint64_t hash_of_work(const Batch& work, std::size_t index) {
  Hash hash;
  hash.add(print_pipeline(work.steps(index))).add(std::uint64_t{0}).add(work.options.format);
  hash.add(std::uint64_t{0}).add(std::string_view(version()));
  const BatchOptions& options = work.options;
  hash.add(static_cast<std::uint64_t>(options.quality.value_or(0)))
      .add(std::uint64_t{options.dither})
      .add(std::uint64_t{options.strip})
      .add(std::uint64_t{options.keep_depth})
      .add(static_cast<std::uint64_t>(options.mask_from))
      .add(std::uint64_t{options.read.allow_partial});
  if (options.read.page) hash.add("page").add(static_cast<std::uint64_t>(*options.read.page));
  if (!options.read.part.empty()) hash.add("part").add(options.read.part);
  if (options.read.all_pages) hash.add("all pages");
  if (options.stream) hash.add("stream");
  if (options.pyramid) hash.add("pyramid");
  if (options.invert_mask) hash.add("invert mask");
  if (options.fast_decode) hash.add("fast decode");
  if (work.model != nullptr) {
    hash.add("model").add(static_cast<std::uint64_t>(options.picture_from));
    for (const fs::path& file : {work.model->file(), work.model->description_file()})
      hash.add(stamp_of(file).size).add(static_cast<std::uint64_t>(stamp_of(file).time));
  }
  for (const PipelineStep& step : work.pipeline) {
    for (const SideInput& side : step.side_inputs) {
      const FileStamp stamp = stamp_of(work.side_path(side, index));
      hash.add(stamp.size).add(static_cast<std::uint64_t>(stamp.time));
    }
  }
  return hash.value();
}

/// Returns the entry that matches the existing output and everything it would be made from now, if there is
/// one.
std::optional<OutputRecord> unchanged(const std::vector<OutputRecord>& before, const OutputRecord& now,
                                      const fs::path& output) {
  const std::uint64_t size = stamp_of(output).size;
  std::optional<std::uint64_t> hash;
  for (const OutputRecord& made : before) {
    if (!made.finished || made.input != now.input || made.work != now.work || made.size != size) continue;
    if (!hash) hash = hash_of_file(output);
    if (made.hash == *hash) return made;
  }
  return std::nullopt;
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

Manifest::Manifest(fs::path file) : file_(std::move(file)) { read_parts(file_); }

Manifest::Manifest(const std::set<fs::path>& folders) {
  for (const fs::path& folder : folders) read_parts(folder / manifest_name);
}

fs::path Manifest::file_for(const fs::path& output) const {
  return file_.empty() ? folder_of(output) / manifest_name : file_;
}

void Manifest::read_parts(const fs::path& file) {
  std::vector<ByName>& parts = parts_[file];
  std::error_code error;
  if (fs::exists(file, error)) read(file, parts.emplace_back());
  const std::string beginning = file.filename().native() + ".";
  for (fs::directory_iterator entry(folder_of(file), error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().filename().native().starts_with(beginning)) read(entry->path(), parts.emplace_back());
  std::erase_if(processes_, [&](ProcessId process) {
    return std::find(elsewhere_.begin(), elsewhere_.end(), process) != elsewhere_.end();
  });
}

void Manifest::read(const fs::path& part, ByName& made) {
  std::ifstream lines(part, std::ios::binary);
  if (!lines) fail(part, "read");
  std::string line;
  // A crash may have cut even the first line: a beginning of it is accepted.
  if (std::getline(lines, line) && first_line.substr(0, line.size()) != line)
    throw Error(ErrorKind::input,
                quoted(part) + " is not a manifest of this version. Move it away to start again.");
  while (std::getline(lines, line))
    if (!lines.eof()) take_line(line, made);
}

void Manifest::take_line(std::string_view line, ByName& made) {
  const std::vector<std::string> words = split(line, ' ');
  ProcessId process = 0;
  if (words[0] == "run" && words.size() == 3 && take_number(words[2], process))
    (words[1] == host_name() ? processes_ : elsewhere_).push_back(process);
  if (words[0] == "begin" && words.size() == 2) made[Hash().add(words[1]).value()] = {};
  if (words[0] != "done") return;
  if (const std::optional<OutputRecord> done = record_of(words)) made[Hash().add(words[1]).value()] = *done;
}

std::vector<OutputRecord> Manifest::find(const fs::path& output) const {
  std::vector<OutputRecord> all;
  const fs::path file = file_for(output);
  const auto parts = parts_.find(file);
  if (parts == parts_.end()) return all;
  const std::uint64_t name = Hash().add(name_in(file, output, file_.empty())).value();
  for (const ByName& part : parts->second)
    if (const auto found = part.find(name); found != part.end()) all.push_back(found->second);
  return all;
}

ManifestLog::ManifestLog(const Batch& work) : work_(work), buffer_(longest_line) {
  if (!work.options.in_place) open({});
}

/// Opens the manifest of an output, and adds this process to it.
void ManifestLog::open(const fs::path& output) {
  fs::path file = work_.manifest->file_for(output);
  if (!work_.options.manifest_part.empty()) file += "." + work_.options.manifest_part;
  if (stream_ && file == file_) return;
  stream_.reset();
  file_ = file;
  create_folder_of(file_);
  const bool whole = ends_with_whole_line(file_);
  const bool empty = stamp_of(file_).size == 0;
  stream_.reset(std::fopen(file_.c_str(), "abe"));
  if (!stream_) fail(file_, "opened");
  if (std::setvbuf(stream_.get(), buffer_.data(), _IOFBF, buffer_.size()) != 0) fail(file_, "opened");
  if (!whole) append("");
  if (empty) append(std::string(first_line));
  append("run " + host_name() + " " + std::to_string(::getpid()));
}

void ManifestLog::begin(const fs::path& output) {
  const std::lock_guard lock(mutex_);
  open(output);
  if (!work_.options.in_place) append("begin " + name_in(file_, output, false));
}

void ManifestLog::done(const fs::path& output, const OutputRecord& made) {
  const std::lock_guard lock(mutex_);
  open(output);
  append("done " + name_in(file_, output, work_.options.in_place) + " " + std::to_string(made.input.size) +
         " " + std::to_string(made.input.time) + " " + std::to_string(made.work) + " " +
         std::to_string(made.size) + " " + std::to_string(made.hash));
}

void ManifestLog::append(const std::string& line) {
  const std::string text = line + "\n";
  const bool written = std::fwrite(text.data(), 1, text.size(), stream_.get()) == text.size() &&
                       std::fflush(stream_.get()) == 0;
  if (!written) fail(file_, "written");
}

fs::path manifest_file(const BatchOptions& options, bool folder_output) {
  if (is_stream(options.output))
    throw Error(ErrorKind::usage, "--resume needs an output that stays. Name a file or a folder with -o.");
  fs::path folder = options.output;
  if (NamePattern::is_one(options.output))
    folder = output_pattern(options).fixed_folder();
  else if (!folder_output)
    folder = options.output.parent_path();
  return folder / manifest_name;
}

Decision decide(const Batch& work, std::size_t index, const BatchFile& file) {
  const BatchOptions& options = work.options;
  const Decision make{FileStatus::done, options.overwrite};
  for (std::size_t i = index - index % work.series(); i < index && !work.output_sizes.empty(); ++i)
    if (work.file(i).output == file.output) return {FileStatus::repeated};
  std::error_code ignored;
  if (is_stream(file.output) || !fs::is_regular_file(file.output, ignored)) return make;
  if (options.in_place) return decide_in_place(work, index, file.input);
  if (options.skip_existing) return {FileStatus::exists};
  if (!work.manifest || !work.manifest->knows(file.output)) return make;
  const std::optional<OutputRecord> made =
      unchanged(work.manifest->find(file.output), record_now(work, index, file), file.output);
  return made ? Decision{FileStatus::unchanged, false, *made} : Decision{FileStatus::done, true};
}

OutputRecord record_now(const Batch& work, std::size_t index, const BatchFile& file) {
  OutputRecord made;
  made.input = stamp_of(file.input);
  made.work = hash_of_work(work, index);
  made.finished = true;
  return made;
}

void remove_left_over_files(const Batch& work, std::set<fs::path>& looked_at) {
  std::set<std::string> beginnings;
  for (const ProcessId process : work.manifest->processes())
    if (!is_running(process)) beginnings.insert(".satin-" + std::to_string(process) + "-");
  if (beginnings.empty()) return;
  std::set<fs::path> folders;
  for (std::size_t i = 0; i < work.size(); ++i) folders.insert(folder_of(work.file(i).output));
  for (const fs::path& folder : folders)
    if (looked_at.insert(folder).second) remove_temporaries_of(beginnings, folder);
}

}  // namespace satin::batch

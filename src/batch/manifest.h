#pragma once
// What is to be done with an output that may be there already, and the manifest: the file beside the outputs
// that lets a batch go on where it ended, however it ended. Its lines are words; names are relative to its
// folder, with %XX for what is no plain character:
//   satin-manifest 1
//   run HOST PROCESS                 a process has begun to add lines
//   begin NAME                       from here on NAME, if there is one, is an output of ours
//   done NAME INPUT-SIZE INPUT-TIME WORK OUTPUT-SIZE OUTPUT-HASH
// Each line is appended by one write, so that the shards of a batch may share the file; a line that a crash
// has cut is ignored. The last line about a name counts. Parts of a manifest (BatchOptions::manifest_part)
// lie beside it. What two parts say of one name are two ways in which the output may have come about: which
// of them it was is told by its size and hash.

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "batch/file_stamp.h"
#include "satin/batch.h"

namespace satin::batch {

/// What an output was made from, and what it is.
struct Made {
  FileStamp input;
  std::uint64_t work = 0;  ///< hash of the pipeline, the format, the side inputs and the version
  std::uint64_t size = 0;
  std::uint64_t hash = 0;
  bool finished = false;  ///< otherwise it was begun, and the rest is not known

  friend bool operator==(const Made&, const Made&) = default;
};

/// A process of this machine that added lines.
using ProcessId = long;

class Manifest {
 public:
  /// Reads the file and all parts beside it. Throws Error(input) if one is there but cannot be read or is no
  /// manifest.
  explicit Manifest(std::filesystem::path file);

  [[nodiscard]] const std::filesystem::path& file() const noexcept { return file_; }
  [[nodiscard]] bool knows(const std::filesystem::path& output) const { return !find(output).empty(); }
  /// The entries of the output in all parts of the manifest.
  [[nodiscard]] std::vector<Made> find(const std::filesystem::path& output) const;
  /// Processes that ran here and nowhere else under the same number.
  [[nodiscard]] const std::vector<ProcessId>& processes() const noexcept { return processes_; }

 private:
  using ByName = std::unordered_map<std::uint64_t, Made>;  ///< by the hash of the name

  void read(const std::filesystem::path& part);
  void take_line(std::string_view line, ByName& made);

  std::filesystem::path file_;
  std::vector<ByName> parts_;
  std::vector<ProcessId> processes_;
  std::vector<ProcessId> elsewhere_;
};

/// Appends to a manifest; may be used by several threads.
class ManifestLog {
 public:
  /// Creates the file and its folder if need be.
  explicit ManifestLog(const std::filesystem::path& file);

  void begin(const std::filesystem::path& output);
  void done(const std::filesystem::path& output, const Made& made);

 private:
  struct Close {
    void operator()(std::FILE* stream) const noexcept { std::fclose(stream); }
  };

  void append(const std::string& line);

  std::filesystem::path file_;
  std::vector<char> buffer_;  ///< longer than a line: so each is one write
  std::unique_ptr<std::FILE, Close> stream_;
};

/// Where the manifest of this batch lies: in the output folder, that of a single output, or the folder before
/// a pattern's first placeholder. Throws Error(usage) if the output is a stream.
[[nodiscard]] std::filesystem::path manifest_file(const BatchOptions& options, bool folder_output);

struct Decision {
  enum class Action { make, replace, leave_existing, leave_unchanged };

  Action action = Action::make;
  Made made{};  ///< the entry of an output that is left unchanged
};

/// With `resume` reads the output to compare its hash.
[[nodiscard]] Decision decide(const Batch& work, std::size_t index, const BatchFile& file);

[[nodiscard]] FileStatus status_after(const Decision& decision);

/// What an output is made from now; its size and hash follow when it is written.
[[nodiscard]] Made made_now(const Batch& work, std::size_t index, const BatchFile& file);

/// The file to which the process adds.
[[nodiscard]] std::filesystem::path own_part(const std::filesystem::path& manifest,
                                             const BatchOptions& options);

/// Removes temporary files beside the outputs that processes left which the manifest knows and which are no
/// more, in folders that are not among those `looked_at`; adds these.
void remove_left_over_files(const Batch& work, std::set<std::filesystem::path>& looked_at);

}  // namespace satin::batch

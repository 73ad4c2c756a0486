#pragma once
// The manifest: a file beside the outputs that lets a batch continue where an earlier run ended, however that
// run ended. It also decides what happens to an output that exists.
//
// Each line consists of words. Names are relative to the folder of the manifest, with %XX for special
// characters:
//   satin-manifest 1
//   run HOST PROCESS      a process begins to add lines
//   begin NAME            from here on, an existing NAME is an output of this batch
//   done NAME INPUT-SIZE INPUT-TIME WORK OUTPUT-SIZE OUTPUT-HASH
// An input that is replaced has the name ./NAME, so that no other batch takes it for an output of its own.
// Each line is appended by a single write, so that the shards of a batch can share the file. A line cut by a
// crash is ignored. The last line about a name counts. Parts of a manifest (BatchOptions::manifest_part) are
// files beside it. If two parts describe one name, size and hash of the output say which of them made it.

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "batch/file_stamp.h"
#include "satin/batch.h"

namespace satin::batch {

/// The inputs from which an output was made, and its size and hash.
struct OutputRecord {
  FileStamp input;
  std::uint64_t work = 0;  ///< hash of pipeline, format, side inputs and version
  std::uint64_t size = 0;
  std::uint64_t hash = 0;
  bool finished = false;  ///< false: writing began, and the other members are unknown

  friend bool operator==(const OutputRecord&, const OutputRecord&) = default;
};

/// Id of a process of this machine that added lines.
using ProcessId = long;

class Manifest {
 public:
  /// Reads the file and all parts beside it. Throws Error(input) if one of them cannot be read or is not a
  /// manifest.
  explicit Manifest(std::filesystem::path file);
  /// Reads the manifests of these folders. Each describes the outputs in its folder: for inputs that are
  /// replaced, whatever leads a later run to them.
  explicit Manifest(const std::set<std::filesystem::path>& folders);

  /// Returns the manifest that describes this output.
  [[nodiscard]] std::filesystem::path file_for(const std::filesystem::path& output) const;
  [[nodiscard]] bool knows(const std::filesystem::path& output) const { return !find(output).empty(); }
  /// Returns the entries of an output in all parts of the manifest.
  [[nodiscard]] std::vector<OutputRecord> find(const std::filesystem::path& output) const;
  /// Returns the processes of this machine whose id no other machine used.
  [[nodiscard]] const std::vector<ProcessId>& processes() const noexcept { return processes_; }

 private:
  using ByName = std::unordered_map<std::uint64_t, OutputRecord>;  ///< key: hash of the name

  void read_parts(const std::filesystem::path& file);
  void read(const std::filesystem::path& part, ByName& made);
  void take_line(std::string_view line, ByName& made);

  std::filesystem::path file_;  ///< the only manifest; empty: one in the folder of each output
  std::map<std::filesystem::path, std::vector<ByName>> parts_;  ///< parts of each manifest
  std::vector<ProcessId> processes_;
  std::vector<ProcessId> elsewhere_;
};

/// Appends to manifests, one of which is open at a time. Thread-safe.
class ManifestLog {
 public:
  /// `work` outlives the log. Creates the file, or this part of it (BatchOptions::manifest_part), and its
  /// folder if needed; where inputs are replaced, each when it is needed.
  explicit ManifestLog(const Batch& work);

  /// Records that an output is about to change. For a file that is replaced nothing is recorded, as it
  /// changes with the rename that follows done().
  void begin(const std::filesystem::path& output);
  void done(const std::filesystem::path& output, const OutputRecord& made);

 private:
  struct Close {
    void operator()(std::FILE* stream) const noexcept { std::fclose(stream); }
  };

  void open(const std::filesystem::path& output);
  void append(const std::string& line);

  const Batch& work_;
  std::mutex mutex_;
  std::filesystem::path file_;  ///< the open manifest, or this part of it
  std::vector<char> buffer_;    ///< longer than any line, so that each line is one write
  std::unique_ptr<std::FILE, Close> stream_;
};

/// Returns the path of the manifest: in the output folder, the folder of a single output, or the folder
/// before the first placeholder of a pattern. Throws Error(usage) if the output is a stream.
[[nodiscard]] std::filesystem::path manifest_file(const BatchOptions& options, bool folder_output);

/// Decision about an output.
struct Decision {
  FileStatus status;      ///< done: the output is made
  bool replaces = false;  ///< whether it may replace a file
  OutputRecord record{};  ///< manifest entry of an output that is left unchanged
};

/// Decides whether an output is made. With `resume`, reads an existing output to compare its hash. Throws as
/// decide_in_place() where inputs are replaced.
[[nodiscard]] Decision decide(const Batch& work, std::size_t index, const BatchFile& file);

/// Returns the record of an output that is made now. Size and hash follow when it is written.
[[nodiscard]] OutputRecord record_now(const Batch& work, std::size_t index, const BatchFile& file);

/// Removes temporary files beside the outputs that processes of the manifest left when they were killed.
/// Skips the folders in `looked_at`, and adds those that it visits.
void remove_left_over_files(const Batch& work, std::set<std::filesystem::path>& looked_at);

}  // namespace satin::batch

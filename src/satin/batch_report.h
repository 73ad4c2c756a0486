#pragma once
// The lines of JSON of a batch's report, and its page with small pictures.

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "satin/batch.h"
#include "satin/error.h"
#include "satin/json.h"
#include "satin/pipeline.h"

namespace [[gnu::visibility("default")]] satin {

/// The error for `what` that cannot be written, by errno: Error(environment) if the disk is full, otherwise
/// Error(input).
[[nodiscard]] Error write_failure(const std::string& what, int code);

/// An object of a message and its kind, under the key "error".
void add_error(JsonWriter& json, const Error& error);
/// An object of what became of a file.
void add_file(JsonWriter& json, const FileResult& file);
/// Keys of the object that is being written: status and exit code.
void add_outcome(JsonWriter& json, const BatchResult& result, int exit_code);
/// Keys of the object that is being written: the counts.
void add_summary(JsonWriter& json, const BatchResult& result);
/// A key of the object that is being written: Batch::unread.
void add_unread(JsonWriter& json, const std::vector<std::filesystem::path>& files);

/// A file with what became of every file, a line of JSON each, written while the batch runs.
class JsonLines {
 public:
  /// Throws Error(usage) if the file exists and is not to be replaced, Error(input) if it cannot be written.
  /// If `resume` is true, lines are added to those of earlier runs.
  JsonLines(const std::filesystem::path& path, bool overwrite, bool resume);

  /// Both functions throw Error(environment) if the disk is full, otherwise Error(input).
  void add(const FileResult& file);
  void finish(const BatchResult& result, int exit_code);  ///< adds a line that sums up

 private:
  struct Close {
    void operator()(std::FILE* stream) const noexcept { std::fclose(stream); }
  };

  void write(const std::string& line);

  std::filesystem::path path_;
  std::unique_ptr<std::FILE, Close> stream_;
};

/// A page that shows what a batch has done: pictures before and after, failures with their reason.
///
/// The page is plain HTML that works from disk. Its small pictures lie in the folder folder_of_gallery(),
/// named by a hash of the output's name, so that a resumed run finds those of outputs that it leaves alone.
/// Entries are kept on disk until the page is finished, in a file without a name: nothing is left if it never
/// is. Everything throws Error(input), or Error(environment) on a full disk.
class Gallery {
 public:
  /// `replaces` allows a page and pictures that exist to be replaced.
  Gallery(std::filesystem::path page, const Pipeline& pipeline, const ReadOptions& read, bool replaces);

  /// Adds a file to the page. Files must come in the order of the page.
  void add(const FileResult& file);
  /// Writes the page.
  void finish(const BatchResult& result);

 private:
  struct Close {
    void operator()(std::FILE* stream) const noexcept { std::fclose(stream); }
  };

  [[nodiscard]] Image left_out(const FileResult& file, const std::string& when) const;
  [[nodiscard]] std::string picture(const FileResult& file, const std::string& when);
  [[nodiscard]] Error failure(int code) const;

  std::filesystem::path page_;
  std::filesystem::path folder_;
  std::string pipeline_;
  ReadOptions read_;  ///< of the inputs
  bool shows_before_;
  bool replaces_;
  std::unique_ptr<std::FILE, Close> entries_;
};

}  // namespace satin

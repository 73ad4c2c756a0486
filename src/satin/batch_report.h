#pragma once
// Reports of a batch: lines of JSON, and an HTML page with thumbnails.

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

/// Returns the error for `what` that cannot be written, with the errno `code`: Error(environment) if the disk
/// is full, otherwise Error(input).
[[nodiscard]] Error write_failure(const std::string& what, int code);

/// Writes the key "error" with an object that holds the message and its kind.
void add_error(JsonWriter& json, const Error& error);
/// Writes an object that describes the result of a file.
void add_file(JsonWriter& json, const FileResult& file);
/// Writes the keys for status and exit code into the open object.
void add_outcome(JsonWriter& json, const BatchResult& result, int exit_code);
/// Writes the counts into the open object.
void add_summary(JsonWriter& json, const BatchResult& result);
/// Writes the key for Batch::unread into the open object.
void add_unread(JsonWriter& json, const std::vector<std::filesystem::path>& files);

/// A report with one line of JSON per file, written while the batch runs.
class JsonLines {
 public:
  /// Creates the file, or appends to it if `resume` is true. Throws Error(usage) if it exists and neither
  /// `overwrite` nor `resume` is set, and Error(input) if it cannot be written.
  JsonLines(const std::filesystem::path& path, bool overwrite, bool resume);

  /// Adds the line of a file. Throws Error(environment) if the disk is full, Error(input) for other failures.
  void add(const FileResult& file);
  void finish(const BatchResult& result, int exit_code);  ///< adds a summary line; throws as add()

 private:
  struct Close {
    void operator()(std::FILE* stream) const noexcept { std::fclose(stream); }
  };

  void write(const std::string& line);

  std::filesystem::path path_;
  std::unique_ptr<std::FILE, Close> stream_;
};

/// An HTML page with thumbnails of inputs and outputs, and the reasons of failures.
///
/// The page works from disk, without a server. Thumbnails are in the folder folder_of_gallery() and named by
/// a hash of the output's name, so that a resumed run finds the thumbnails of outputs that it skips. Until
/// the page is finished, its entries are in an unnamed temporary file, which vanishes if the process ends
/// early. All functions throw Error(input), or Error(environment) on a full disk.
class Gallery {
 public:
  /// `replaces` allows an existing page and existing thumbnails to be replaced.
  Gallery(std::filesystem::path page, const Pipeline& pipeline, const ReadOptions& read, bool replaces);

  /// Adds a file to the page. The page keeps the order of the calls.
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
  ReadOptions read_;  ///< options of the inputs
  bool shows_before_;
  bool replaces_;
  std::unique_ptr<std::FILE, Close> entries_;
};

}  // namespace satin

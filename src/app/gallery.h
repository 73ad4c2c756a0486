#pragma once
// A page that shows what a batch has done: pictures before and after, failures with their reason.

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "satin/batch.h"

namespace satin::app {

/// The page is plain HTML that works from disk. Its small pictures lie in the folder folder_of_gallery(),
/// named by a hash of the output's name, so that a resumed run finds those of outputs that it leaves alone.
/// Entries are kept on disk until the page is finished, in a file without a name: nothing is left if it never
/// is. Everything throws Error(input), or Error(environment) on a full disk.
class Gallery {
 public:
  /// `replaces` allows a page and pictures that exist to be replaced.
  Gallery(std::filesystem::path page, const Pipeline& pipeline, const ReadOptions& read, bool replaces);

  /// In the order of the page.
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

}  // namespace satin::app

#pragma once
// --report: what became of every file, a line of JSON each, written while the batch runs.

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "satin/batch.h"
#include "satin/error.h"

namespace satin::app {

class JsonLines {
 public:
  /// Throws Error(usage) if the file exists and is not to be replaced, Error(input) if it cannot be written.
  /// With `resume` lines are added to those of earlier runs.
  JsonLines(const std::filesystem::path& path, bool overwrite, bool resume);

  /// These throw Error(environment) if the disk is full, otherwise Error(input).
  void add(const FileResult& file);
  void finish(const BatchResult& result);

 private:
  struct Close {
    void operator()(std::FILE* stream) const noexcept { std::fclose(stream); }
  };

  void write(const std::string& line);
  [[nodiscard]] Error failure(int code) const;

  std::filesystem::path path_;
  std::unique_ptr<std::FILE, Close> stream_;
};

}  // namespace satin::app

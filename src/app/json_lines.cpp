#include "app/json_lines.h"

#include <cerrno>
#include <cstring>

#include "app/report.h"

namespace satin::app {

JsonLines::JsonLines(const std::filesystem::path& path, bool overwrite, bool resume) : path_(path) {
  const char* mode = resume ? "ae" : overwrite ? "we" : "wxe";
  stream_.reset(std::fopen(path.c_str(), mode));
  if (stream_) return;
  const int code = errno;
  if (code == EEXIST)
    throw Error(ErrorKind::usage, "The report '" + path.string() + "' exists. --overwrite replaces it.");
  throw failure(code);
}

void JsonLines::add(const FileResult& file) {
  JsonWriter json;
  add_file(json, file);
  write(json.text());
}

void JsonLines::finish(const BatchResult& result) {
  JsonWriter json;
  json.begin_object();
  add_outcome(json, result);
  add_summary(json, result);
  json.end_object();
  write(json.text());
}

void JsonLines::write(const std::string& line) {
  const std::string text = line + "\n";
  const bool written = std::fwrite(text.data(), 1, text.size(), stream_.get()) == text.size() &&
                       std::fflush(stream_.get()) == 0;
  if (!written) throw failure(errno);
}

Error JsonLines::failure(int code) const {
  const bool full = code == ENOSPC || code == EDQUOT;
  return {full ? ErrorKind::environment : ErrorKind::input,
          "The report '" + path_.string() + "' cannot be written: " + std::strerror(code) + "."};
}

}  // namespace satin::app

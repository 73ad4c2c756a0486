#include <cerrno>
#include <cstring>
#include <string_view>

#include "batch/file_stamp.h"
#include "batch/names.h"
#include "satin/batch_report.h"
#include "satin/error.h"
#include "satin/param.h"

namespace satin {
namespace {

const char* name_of_kind(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::input:
      return "input";
    case ErrorKind::usage:
      return "usage";
    case ErrorKind::environment:
      return "environment";
    case ErrorKind::cancelled:
      return "cancelled";
  }
  return "input";
}

/// A name that is no UTF-8 as hexadecimal bytes: as text it would lose some.
void add_bytes(JsonWriter& json, const char* key, const std::filesystem::path& path) {
  if (batch::is_utf8(path.native())) return;
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const char c : path.native()) {
    text += digits[static_cast<unsigned char>(c) / 16];
    text += digits[static_cast<unsigned char>(c) % 16];
  }
  json.key(key).string(text);
}

void add_photo(JsonWriter& json, const PhotoReport& photo) {
  const bool disparity = photo.kind == DepthKind::disparity;
  json.key("photo").begin_object();
  json.key("depth").begin_object();
  json.key("format").string(photo.format).key("place").string(photo.place);
  json.key("kind").string(disparity ? "disparity" : "depth");
  if (photo.metric) json.key("unit").string(disparity ? "1/m" : "m");
  json.key("width").integer(photo.depth.width).key("height").integer(photo.depth.height);
  json.key("lowest").real(photo.lowest).key("highest").real(photo.highest);
  if (!photo.depth_out.empty()) json.key("written").string(photo.depth_out.string());
  json.end_object();
  if (!photo.original.empty()) json.key("original").string(photo.original);
  json.key("focus").begin_object();
  json.key("source").string(photo.blur.source).key("disparity").real(photo.blur.disparity);
  if (photo.blur.place) json.key("place").string(print_point(*photo.blur.place));
  json.end_object().end_object();
}

const char* status_of(const BatchResult& result) {
  if (result.cancelled) return "interrupted";
  return result.failed == 0 ? "done" : "failed";
}

const char* status_of(const FileResult& file) {
  switch (file.status) {
    case FileStatus::done:
      return "done";
    case FileStatus::failed:
      return "failed";
    case FileStatus::exists:
      return "exists";
    case FileStatus::unchanged:
      return "unchanged";
  }
  return "failed";
}

}  // namespace

Error write_failure(const std::string& what, int code) {
  const bool full = code == ENOSPC || code == EDQUOT || code == EFBIG;
  return {full ? ErrorKind::environment : ErrorKind::input,
          what + " cannot be written: " + std::strerror(code) + "."};
}

void add_error(JsonWriter& json, const Error& error) {
  json.key("error").begin_object();
  json.key("kind").string(name_of_kind(error.kind()));
  json.key("message").string(error.what());
  json.end_object();
}

void add_file(JsonWriter& json, const FileResult& file) {
  json.begin_object();
  json.key("input").string(file.input.string());
  json.key("output").string(file.output.string());
  json.key("status").string(status_of(file));
  add_bytes(json, "input_bytes", file.input);
  add_bytes(json, "output_bytes", file.output);
  if (file.index != 0)
    json.key("index").integer(static_cast<long long>(file.index)).key("pipeline").string(file.pipeline);
  if (file.shape.width != 0) json.shape(file.shape);
  if (file.pages > 1) json.key("pages").integer(static_cast<long long>(file.pages));
  if (file.output_shape.width != 0) json.key("output_type").string(name_of(file.output_shape.type));
  json.key("seconds").real(file.time.count());
  if (file.bytes != 0) json.key("bytes").integer(static_cast<long long>(file.bytes));
  if (file.bytes != 0) json.key("hash").string(batch::hexadecimal(file.hash));
  if (!file.found.empty()) {
    json.key("found").begin_object();
    for (const FoundValue& found : file.found) json.key(found.parameter).real(found.value);
    json.end_object();
  }
  if (file.error) add_error(json, *file.error);
  if (file.photo) add_photo(json, *file.photo);
  if (!file.warnings.empty()) json.key("warnings").strings(file.warnings);
  json.end_object();
}

void add_unread(JsonWriter& json, const std::vector<std::filesystem::path>& files) {
  json.key("unread").begin_array();
  for (const std::filesystem::path& file : files) json.string(file.string());
  json.end_array();
}

void add_outcome(JsonWriter& json, const BatchResult& result, int exit_code) {
  json.key("status").string(status_of(result));
  json.key("exit_code").integer(exit_code);
}

void add_summary(JsonWriter& json, const BatchResult& result) {
  json.key("summary").begin_object();
  json.key("total").integer(static_cast<long long>(result.total));
  json.key("done").integer(static_cast<long long>(result.done));
  json.key("skipped").integer(static_cast<long long>(result.skipped));
  json.key("failed").integer(static_cast<long long>(result.failed));
  json.key("not_started").integer(static_cast<long long>(result.not_started()));
  add_unread(json, result.unread);
  json.key("seconds").real(result.time.count());
  json.end_object();
}

JsonLines::JsonLines(const std::filesystem::path& path, bool overwrite, bool resume) : path_(path) {
  const char* mode = resume ? "ae" : overwrite ? "we" : "wxe";
  stream_.reset(std::fopen(path.c_str(), mode));
  if (stream_) return;
  const int code = errno;
  if (code == EEXIST)
    throw Error(ErrorKind::usage, "The report '" + path.string() + "' exists. --overwrite replaces it.");
  throw write_failure("The report '" + path_.string() + "'", code);
}

void JsonLines::add(const FileResult& file) {
  JsonWriter json;
  add_file(json, file);
  write(json.text());
}

void JsonLines::finish(const BatchResult& result, int exit_code) {
  JsonWriter json;
  json.begin_object();
  add_outcome(json, result, exit_code);
  add_summary(json, result);
  json.end_object();
  write(json.text());
}

void JsonLines::write(const std::string& line) {
  const std::string text = line + "\n";
  const bool written = std::fwrite(text.data(), 1, text.size(), stream_.get()) == text.size() &&
                       std::fflush(stream_.get()) == 0;
  if (!written) throw write_failure("The report '" + path_.string() + "'", errno);
}

}  // namespace satin

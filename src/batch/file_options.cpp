#include "batch/file_options.h"

#include <filesystem>
#include <optional>
#include <system_error>

#include "batch/outputs.h"

namespace satin::batch {
namespace {

namespace fs = std::filesystem;

std::optional<fs::file_time_type> time_of(const fs::path& input) {
  std::error_code error;
  if (!fs::is_regular_file(input, error)) return std::nullopt;
  const fs::file_time_type time = fs::last_write_time(input, error);
  return error ? std::nullopt : std::optional(time);
}

}  // namespace

WriteOptions write_options(const BatchFile& file, const Picture& source, const BatchOptions& options,
                           OutputKind kind) {
  WriteOptions result;
  result.format = output_format(file, options, kind);
  result.quality = options.quality;
  result.convert = kind == OutputKind::image;
  result.dither = options.dither;
  result.modified = time_of(file.input);
  result.metadata = source.metadata;
  result.channels = source.channels;
  if (options.strip || kind == OutputKind::table) {
    result.metadata.icc.clear();
    result.metadata.exif.clear();
    result.metadata.xmp.clear();
    result.metadata.iptc.clear();
    result.metadata.png = {};
    result.channels = {};
  }
  return result;
}

std::vector<std::string> file_warnings(const BatchFile& file, const Picture& source, const Shape& output,
                                       const WriteOptions& options) {
  std::vector<std::string> warnings = source.warnings;
  const std::string extension = options.format.empty() ? file.output.extension().string() : options.format;
  for (const std::string& text : {options.convert ? what_is_converted(extension, output) : std::string(),
                                  what_is_lost(extension, options.metadata, options.channels)})
    if (!text.empty()) warnings.push_back(text);
  return warnings;
}

}  // namespace satin::batch

#include "app/analysis.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "app/interrupt.h"
#include "app/options.h"
#include "app/report.h"
#include "app/terminal.h"
#include "satin/batch.h"
#include "satin/error.h"
#include "satin/io.h"
#include "satin/pipeline.h"
#include "satin/plan.h"

namespace satin::app {
namespace {

Picture read(const BatchFile& input, const ReadOptions& options) {
  if (input.problem) throw Error(*input.problem);
  return read_picture(input.input, options);
}

}  // namespace

Device open_device(const ParsedLine& line) {
  return Device::open(line.value("device").value_or("auto"), device_options_of(line));
}

std::string short_number(double value, int digits) {
  std::array<char, 400> text{};
  const int size = std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  std::string result(text.data(), static_cast<std::size_t>(size));
  if (result.find('.') == std::string::npos) return result;
  result.erase(result.find_last_not_of('0') + 1);
  if (result.back() == '.') result.pop_back();
  return result;
}

bool names_one_file(const ParsedLine& line) {
  if (line.arguments.size() != 1 || line.value("files-from")) return false;
  const std::string& name = line.arguments.front();
  const bool is_pattern = name.find_first_of("*?[") != std::string::npos && !std::filesystem::exists(name);
  return !is_pattern && !std::filesystem::is_directory(name);
}

ReadOptions analysis_reading(const ParsedLine& line) {
  ReadOptions options = read_options_of(line);
  options.accept = [](const Shape& shape, std::uint64_t beside) {
    const std::uint64_t bytes = byte_size(shape) + std::max(beside, bytes_of_analysis(shape));
    constexpr std::uint64_t always_free = std::uint64_t{64} << 20;
    if (bytes <= always_free) return;
    if (const std::uint64_t free = free_memory(); bytes > free)
      throw Error(ErrorKind::environment, "The picture and what is found in it take up to " +
                                              std::to_string(bytes) + " bytes, above the " +
                                              std::to_string(free) +
                                              " bytes that are free. Make the picture smaller.");
  };
  return options;
}

int for_each_picture(const ParsedLine& line, JsonWriter* json, const PictureWork& work, bool one) {
  const std::vector<BatchFile> inputs = find_pictures(input_options_of(line));
  const ReadOptions options = analysis_reading(line);
  BatchResult result;
  result.total = inputs.size();
  const bool listed = json != nullptr && !one;
  if (listed) json->key("files").begin_array();
  for (const BatchFile& input : inputs) {
    if (interrupted()) {
      result.cancelled = true;
      break;
    }
    const std::string name = input.input.string();
    FileResult file;
    if (listed) json->begin_object();
    if (json != nullptr) json->key("input").string(name);
    try {
      const Picture picture = read(input, options);
      for (const std::string& warning : picture.warnings) print_error("Warning: " + name + ": " + warning);
      if (json != nullptr) json->shape(picture.image.shape());
      work(input, picture.image);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::usage) throw;
      print_error(error.what());
      file.error = error;
      file.status = FileStatus::failed;
      if (json != nullptr) json->key("error").string(error.what());
    }
    result.count(file);
    if (listed) json->end_object();
  }
  if (const std::string summary = summary_of_failure(result); !summary.empty()) print_error(summary);
  const int code = exit_code(result);
  if (listed) json->end_array().key("exit_code").integer(code);
  return code;
}

}  // namespace satin::app

#include "app/analysis.h"

#include <array>
#include <cstdio>

#include "app/batch_options.h"
#include "app/exit_code.h"
#include "app/interrupt.h"
#include "app/report.h"
#include "app/settings.h"
#include "app/terminal.h"
#include "satin/batch.h"
#include "satin/error.h"
#include "satin/io.h"

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

std::vector<std::string> channel_names(const Shape& shape) {
  std::vector<std::string> names = {"grey"};
  if (shape.channels >= 3) names = {"red", "green", "blue"};
  if (shape.channels % 2 == 0) names.emplace_back("alpha");
  return names;
}

int for_each_picture(const ParsedLine& line, JsonWriter* json,
                     const std::function<void(const BatchFile& file, const Image& picture)>& work) {
  const std::vector<BatchFile> inputs = find_pictures(input_options_of(line));
  const ReadOptions options = read_options_of(line);
  BatchResult result;
  result.total = inputs.size();
  for (const BatchFile& input : inputs) {
    if (interrupted()) {
      result.cancelled = true;
      break;
    }
    const std::string name = input.input.string();
    FileResult file;
    if (json != nullptr) json->begin_object().key("input").string(name);
    try {
      const Picture picture = read(input, options);
      for (const std::string& warning : picture.warnings) print_error("Warning: " + name + ": " + warning);
      if (json != nullptr) add_shape(*json, picture.image.shape());
      work(input, picture.image);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::usage) throw;
      print_error(error.what());
      file.error = error;
      file.status = FileStatus::failed;
      if (json != nullptr) json->key("error").string(error.what());
    }
    result.count(file);
    if (json != nullptr) json->end_object();
  }
  if (const std::string summary = summary_of_failure(result); !summary.empty()) print_error(summary);
  return exit_code(result);
}

}  // namespace satin::app

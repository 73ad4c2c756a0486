#include "app/analysis.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "app/interrupt.h"
#include "app/options.h"
#include "app/report.h"
#include "satin/io.h"
#include "satin/pipeline.h"
#include "satin/plan.h"

namespace satin::app {

Device open_device(const ParsedLine& line) {
  return Device::open(line.value("device").value_or("auto"), device_options_of(line));
}

std::string name_with_page(const BatchFile& file, std::size_t page) {
  return file.input.string() + (page == 0 ? "" : ", page " + std::to_string(page));
}

bool names_one_file(const ParsedLine& line) {
  if (line.arguments.size() != 1 || line.value("files-from") || line.flag("all-pages")) return false;
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

void warn(const std::string& name, const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) print_error("Warning: " + name + ": " + warning);
}

std::optional<Error> report_on(const BatchFile& input, std::size_t page, JsonWriter* json, bool in_object,
                               bool throws_usage, const std::function<void()>& report) {
  if (in_object) json->begin_object();
  if (json != nullptr) json->key("input").string(input.input.string());
  if (json != nullptr && page != 0) json->key("page").integer(static_cast<long long>(page));
  std::optional<Error> error;
  try {
    report();
  } catch (const Error& failure) {
    if (failure.kind() == ErrorKind::usage && throws_usage) throw;
    error = failure;
    print_error(failure.what());
    if (json != nullptr) json->key("error").string(failure.what());
  }
  if (in_object) json->end_object();
  return error;
}

int for_each_file(const ParsedLine& line, JsonWriter* json, const FileWork& work) {
  const FoundPictures found = find_pictures(input_options_of(line));
  BatchResult result;
  result.total = found.files.size();
  if (json != nullptr) json->key("files").begin_array();
  for (const BatchFile& input : found.files) {
    if (interrupted()) {
      result.cancelled = true;
      break;
    }
    FileResult file;
    file.error = work(input, found.files.size() == 1);
    if (file.error) file.status = FileStatus::failed;
    result.count(file);
  }
  if (!found.unread.empty()) print_error(describe_unread(found.unread));
  if (const std::string summary = summary_of_failure(result); !summary.empty()) print_error(summary);
  const int code = exit_code(result);
  if (json == nullptr) return code;
  json->end_array();
  if (!found.unread.empty()) add_unread(*json, found.unread);
  json->key("exit_code").integer(code);
  return code;
}

int for_each_picture(const ParsedLine& line, JsonWriter* json, const PictureWork& work, bool one) {
  const ReadOptions options = analysis_reading(line);
  const bool listed = json != nullptr && !one;
  return for_each_file(line, listed ? json : nullptr, [&](const BatchFile& input, bool alone) {
    std::vector<Picture> pictures;
    std::optional<Error> error = input.problem;
    try {
      if (!error) pictures = read_pictures(input.input, options);
    } catch (const Error& failure) {
      error = failure;
    }
    if (error) error = report_on(input, 0, json, listed, alone, [&] { throw Error(*error); });
    for (std::size_t i = 0; i < pictures.size(); ++i) {
      const std::size_t page = options.all_pages ? i + 1 : 0;
      const auto report = [&] {
        warn(name_with_page(input, page), pictures[i].warnings);
        if (json != nullptr) json->shape(pictures[i].image.shape());
        work(input, pictures[i].image, page);
      };
      if (auto failure = report_on(input, page, json, listed, true, report)) error = failure;
    }
    return error;
  });
}

}  // namespace satin::app

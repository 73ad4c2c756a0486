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
namespace {

/// The pictures of a file, or the error.
struct FileContents {
  std::vector<Picture> pictures;
  std::optional<Error> error;
};

FileContents read(const BatchFile& input, const ReadOptions& options) try {
  if (input.problem) return {{}, input.problem};
  return {read_pictures(input.input, options), std::nullopt};
} catch (const Error& error) {
  return {{}, error};
}

/// Reports on each picture, in an object of its own if `listed`.
class PictureReport {
 public:
  PictureReport(JsonWriter* json, bool listed) : json_(json), listed_(listed) {}

  /// Calls `work` and returns its error. Throws Error(usage).
  std::optional<Error> tell(const BatchFile& input, const Picture& picture, std::size_t page,
                            const PictureWork& work) {
    begin(input, page);
    for (const std::string& warning : picture.warnings)
      print_error("Warning: " + name_with_page(input, page) + ": " + warning);
    std::optional<Error> error;
    try {
      if (json_ != nullptr) json_->shape(picture.image.shape());
      work(input, picture.image, page);
    } catch (const Error& failure) {
      if (failure.kind() == ErrorKind::usage) throw;
      error = failure;
    }
    end(error);
    return error;
  }

  void tell(const BatchFile& input, const Error& error) {
    begin(input, 0);
    end(error);
  }

 private:
  void begin(const BatchFile& input, std::size_t page) {
    if (listed_) json_->begin_object();
    if (json_ != nullptr) json_->key("input").string(input.input.string());
    if (json_ != nullptr && page != 0) json_->key("page").integer(static_cast<long long>(page));
  }

  void end(const std::optional<Error>& error) {
    if (error) print_error(error->what());
    if (error && json_ != nullptr) json_->key("error").string(error->what());
    if (listed_) json_->end_object();
  }

  JsonWriter* json_;
  bool listed_;
};

}  // namespace

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
  PictureReport report(json, listed);
  return for_each_file(line, listed ? json : nullptr, [&](const BatchFile& input, bool alone) {
    FileContents contents = read(input, options);
    std::optional<Error> error = contents.error;
    if (error && error->kind() == ErrorKind::usage && alone) throw Error(*error);
    if (error) report.tell(input, *error);
    for (std::size_t i = 0; i < contents.pictures.size(); ++i)
      if (auto failure = report.tell(input, contents.pictures[i], options.all_pages ? i + 1 : 0, work))
        error = failure;
    return error;
  });
}

}  // namespace satin::app

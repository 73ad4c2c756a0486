#include "batch/inputs.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <set>
#include <system_error>

#include "batch/quoted.h"
#include "satin/io.h"

namespace satin::batch {
namespace {

namespace fs = std::filesystem;

std::set<std::string> readable_extensions() {
  std::set<std::string> extensions;
  for (const FormatInfo& format : formats())
    if (format.reads) extensions.insert(format.extensions.begin(), format.extensions.end());
  return extensions;
}

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

bool is_hidden(const fs::path& path) {
  const std::string name = path.filename().string();
  return !name.empty() && name.front() == '.';
}

class FolderSearch {
 public:
  FolderSearch(const BatchOptions& options) : options_(options), extensions_(readable_extensions()) {}

  void search(const fs::path& folder, std::vector<FoundInput>& found) {
    std::vector<fs::path> paths;
    std::error_code error;
    collect(folder, paths, error);
    if (error)
      throw Error(ErrorKind::input,
                  "The folder " + quoted(folder) + " cannot be read: " + error.message() + ".");
    std::sort(paths.begin(), paths.end());
    for (fs::path& path : paths) {
      fs::path relative = path.lexically_relative(folder);
      found.push_back({std::move(path), std::move(relative), std::nullopt});
    }
  }

 private:
  void collect(const fs::path& folder, std::vector<fs::path>& paths, std::error_code& error) {
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
      if (is_hidden(entry->path())) continue;
      std::error_code ignored;  // a dangling link is no picture
      if (entry->is_directory(ignored)) {
        if (options_.recursive && !entry->is_symlink(ignored) && !is_output(entry->path()))
          collect(entry->path(), paths, error);
      } else if (entry->is_regular_file(ignored) &&
                 extensions_.count(lower_case(entry->path().extension().string())) != 0) {
        paths.push_back(entry->path());
      }
      if (error) return;
    }
  }

  bool is_output(const fs::path& folder) const {
    std::error_code ignored;
    return fs::equivalent(folder, options_.output, ignored);
  }

  const BatchOptions& options_;
  std::set<std::string> extensions_;
};

}  // namespace

bool is_stream(const fs::path& path) { return path == "-"; }

std::optional<Error> reading_problem(const fs::path& path) {
  if (is_stream(path)) return std::nullopt;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  const std::string name = quoted(path);
  if (status.type() == fs::file_type::not_found)
    return Error(ErrorKind::input, name + " does not exist. Check the path.");
  if (status.type() == fs::file_type::directory)
    return Error(ErrorKind::input, name + " is a folder. Name a file.");
  if (::access(path.c_str(), R_OK) != 0)
    return Error(ErrorKind::input, name + " cannot be read: " + std::strerror(errno) + ".");
  return std::nullopt;
}

InputList find_inputs(const BatchOptions& options) {
  if (options.inputs.empty())
    throw Error(ErrorKind::usage, "There is no input. Name a file, a folder or '-'.");
  InputList list;
  FolderSearch folders(options);
  for (const fs::path& input : options.inputs) {
    if (input.empty()) throw Error(ErrorKind::usage, "The name of an input is empty.");
    if (is_stream(input) && options.inputs.size() > 1)
      throw Error(ErrorKind::usage,
                  "Standard input ('-') must be the only input. Name it './-' if it is a file.");
    std::error_code ignored;
    if (fs::is_directory(input, ignored)) {
      list.has_folder = true;
      folders.search(input, list.files);
    } else {
      list.files.push_back({input, input.filename(), reading_problem(input)});
    }
  }
  if (list.files.empty())
    throw Error(ErrorKind::input,
                "There is no picture in " + quoted(options.inputs.front()) +
                    (options.recursive ? "." : ". Folders in it are searched with --recursive."));
  return list;
}

}  // namespace satin::batch

namespace satin {

std::vector<BatchFile> find_pictures(const std::vector<std::filesystem::path>& inputs, bool recursive) {
  BatchOptions options;
  options.inputs = inputs;
  options.recursive = recursive;
  std::vector<BatchFile> files;
  for (batch::FoundInput& found : batch::find_inputs(options).files)
    files.push_back({std::move(found.path), {}, std::move(found.problem)});
  return files;
}

}  // namespace satin

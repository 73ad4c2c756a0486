#include "batch/inputs.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "satin/io.h"

namespace satin::batch {
namespace {

namespace fs = std::filesystem;

bool is_hidden(const fs::path& path) { return path.filename().native().starts_with('.'); }

/// A pattern that matches one means it.
bool is_picture_of_others(const fs::path& name) {
  constexpr std::string_view extensions =
      " .heic .heif .avif .gif .psd .xcf .svg .jxl .ico .dng .cr2 .cr3 .nef .arw .raf .orf .rw2 .pef ";
  const std::string extension = lower(name.extension().string());
  return !extension.empty() && extensions.find(" " + extension + " ") != std::string_view::npos;
}

/// Adds what one input stands for to the list.
class InputSearch {
 public:
  explicit InputSearch(const BatchOptions& options) : options_(options) {}

  void add(const fs::path& input) {
    if (input.empty()) throw Error(ErrorKind::usage, "The name of an input is empty.");
    std::error_code ignored;
    if (fs::is_directory(input, ignored)) return add_folder(input);
    if (is_glob(input)) return add_matches(input);
    list_.many = list_.many || !list_.files.empty();
    list_.files.below({});
    list_.files.add(input.native());
  }

  InputList take() {
    std::sort(list_.unread.begin(), list_.unread.end());
    list_.unread.erase(std::unique(list_.unread.begin(), list_.unread.end()), list_.unread.end());
    return std::move(list_);
  }

 private:
  void add_folder(const fs::path& folder) {
    std::error_code error;
    list_.many = true;
    list_.files.below(folder);
    const std::size_t first = list_.files.size();
    collect(folder, {}, error);
    if (error)
      throw Error(ErrorKind::input,
                  "The folder " + quoted(folder) + " cannot be read: " + error.message() + ".");
    list_.files.sort_from(first);
  }

  void add_matches(const fs::path& pattern) {
    list_.many = true;
    list_.files.below(fixed_folder_of_glob(pattern));
    const std::size_t first = list_.files.size();
    expand_glob(pattern, [&](const fs::path& relative) {
      if (is_picture(relative) || is_picture_of_others(relative)) return list_.files.add(relative.native());
      list_.unread.push_back(fixed_folder_of_glob(pattern) / relative);
    });
    list_.files.sort_from(first);
    if (list_.files.size() == first)
      throw Error(ErrorKind::input, "No picture matches " + quoted(pattern) + ". Check the pattern.");
  }

  void collect(const fs::path& folder, const fs::path& relative, std::error_code& error) {
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
      if (is_hidden(entry->path())) continue;
      const fs::path name = relative / entry->path().filename();
      std::error_code ignored;  // a dangling link is no picture
      if (entry->is_directory(ignored)) {
        if (options_.recursive && !entry->is_symlink(ignored) && !is_output(entry->path()))
          collect(entry->path(), name, error);
      } else if (entry->is_regular_file(ignored)) {
        is_picture(name) ? list_.files.add(name.native()) : list_.unread.push_back(folder / name.filename());
      }
      if (error) return;
    }
  }

  bool is_output(const fs::path& folder) const {
    std::error_code ignored;
    return fs::equivalent(folder, options_.output, ignored) ||
           (!options_.gallery.empty() &&
            fs::equivalent(folder, folder_of_gallery(options_.gallery), ignored));
  }

  const BatchOptions& options_;
  InputList list_;
};

}  // namespace

bool is_picture(const fs::path& name) {
  return is_extension_of(&FormatInfo::reads, name.extension().string());
}

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
  InputSearch search(options);
  for (const fs::path& input : options.inputs) search.add(input);
  for (std::size_t first = 0; first < options.list.size();) {
    const std::size_t end = std::min(options.list.find('\0', first), options.list.size());
    search.add(options.list.substr(first, end - first));
    first = end + 1;
  }
  const bool stream = std::any_of(options.inputs.begin(), options.inputs.end(), is_stream);
  InputList list = search.take();
  if (stream && list.many)
    throw Error(ErrorKind::usage,
                "Standard input ('-') must be the only input. Name it './-' if it is a file.");
  if (!list.files.empty()) return list;
  if (options.inputs.empty())
    throw Error(ErrorKind::usage, "There is no input. Name a file, a folder or '-'.");
  throw Error(ErrorKind::input,
              "There is no picture in " + quoted(options.inputs.front()) +
                  (options.recursive ? "." : ". Folders in it are searched with --recursive.") +
                  (list.unread.empty() ? "" : "\n" + describe_unread(list.unread)));
}

}  // namespace satin::batch

namespace satin {

std::string describe_unread(const std::vector<std::filesystem::path>& files) {
  constexpr std::size_t named = 8;
  if (files.empty()) return "";
  std::string text =
      std::to_string(files.size()) + (files.size() == 1 ? " file is no picture that Satin reads: "
                                                        : " files are no pictures that Satin reads: ");
  for (std::size_t i = 0; i < std::min(files.size(), named); ++i)
    text += (i == 0 ? "" : ", ") + batch::quoted(files[i]);
  return text + (files.size() > named ? " and " + std::to_string(files.size() - named) + " more." : ".");
}

FoundPictures find_pictures(const BatchOptions& options) {
  batch::InputList inputs = batch::find_inputs(options);
  FoundPictures result{{}, std::move(inputs.unread)};
  const PictureList& found = inputs.files;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::filesystem::path path = found.path(i);
    result.files.push_back({path, found.relative(i), batch::reading_problem(path)});
  }
  return result;
}

void PictureList::below(const std::filesystem::path& folder) {
  if (folders_.back() != folder) folders_.push_back(folder);
}

void PictureList::add(std::string_view relative) {
  Entry entry;
  entry.first = names_.size();
  entry.size = static_cast<std::uint32_t>(relative.size());
  entry.folder = static_cast<std::uint32_t>(folders_.size() - 1) & 0x3FFFFFFFU;
  entries_.push_back(entry);
  names_ += relative;
}

void PictureList::sort_from(std::size_t first) {
  const auto begin = entries_.begin() + static_cast<std::ptrdiff_t>(first);
  std::sort(begin, entries_.end(), [this](const Entry& a, const Entry& b) { return text(a) < text(b); });
  entries_.erase(std::unique(begin, entries_.end(),
                             [this](const Entry& a, const Entry& b) { return text(a) == text(b); }),
                 entries_.end());
}

std::filesystem::path PictureList::path(std::size_t index) const {
  const Entry& entry = entries_[index];
  return folders_[entry.folder] / text(entry);
}

std::filesystem::path PictureList::relative(std::size_t index) const {
  const Entry& entry = entries_[index];
  const std::filesystem::path name = text(entry);
  return folders_[entry.folder].empty() ? name.filename() : name;
}

}  // namespace satin

#include "batch/file_names.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "satin/error.h"
#include "satin/io.h"
#include "satin/json.h"
#include "satin/param.h"

namespace satin::batch {

namespace fs = std::filesystem;

namespace {

bool has_wildcard(const fs::path& part) { return part.native().find_first_of("*?[") != std::string::npos; }

/// Walks the folders that match a pattern, one path component after the other.
class Expansion {
 public:
  using Found = std::function<void(const fs::path&)>;

  Expansion(fs::path root, std::vector<std::string> parts, const Found& found)
      : root_(std::move(root)), parts_(std::move(parts)), found_(found) {}

  /// `relative` is a folder that matches the components before `part`.
  void walk(const fs::path& relative, std::size_t part) const {
    if (parts_[part] == "**") return walk_deep(relative, part);
    if (!has_wildcard(parts_[part])) return take(relative / parts_[part], part);
    for_each_entry(relative, [&](const fs::directory_entry& entry) {
      const fs::path name = entry.path().filename();
      if (::fnmatch(parts_[part].c_str(), name.c_str(), FNM_PERIOD) == 0) take(relative / name, part);
    });
  }

 private:
  void walk_deep(const fs::path& relative, std::size_t part) const {
    walk(relative, part + 1);
    for_each_entry(relative, [&](const fs::directory_entry& entry) {
      std::error_code ignored;
      const fs::path name = entry.path().filename();
      if (name.native().front() != '.' && entry.is_directory(ignored) && !entry.is_symlink(ignored))
        walk_deep(relative / name, part);
    });
  }

  void take(const fs::path& relative, std::size_t part) const {
    std::error_code ignored;
    const fs::path path = root_ / relative;
    if (part + 1 < parts_.size()) {
      if (fs::is_directory(path, ignored)) walk(relative, part + 1);
    } else if (fs::is_regular_file(path, ignored)) {
      found_(relative);
    }
  }

  template <class Visit>
  void for_each_entry(const fs::path& relative, const Visit& visit) const {
    std::error_code error;
    const fs::path folder = root_ / relative;
    for (fs::directory_iterator entry(folder.empty() ? "." : folder, error), end; !error && entry != end;
         entry.increment(error))
      visit(*entry);
  }

  fs::path root_;
  std::vector<std::string> parts_;
  const Found& found_;
};

/// Throws Error(usage) about a name with placeholders.
[[noreturn]] void refuse(const fs::path& name, const std::string& why) {
  throw Error(ErrorKind::usage, quoted(name) + why);
}

}  // namespace

std::string quoted(const fs::path& path) { return "'" + printable(path.native()) + "'"; }

bool is_stream(const fs::path& path) { return path == "-"; }

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

std::string reference(const fs::path& file, const fs::path& from, bool (*plain)(char)) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::error_code ignored;
  const fs::path folder = fs::absolute(from, ignored).lexically_normal().parent_path();
  const fs::path name = fs::absolute(file, ignored).lexically_normal().lexically_relative(folder);
  std::string text;
  for (const char c : name.native()) {
    const auto code = static_cast<unsigned char>(c);
    if (plain(c))
      text += c;
    else
      text += {'%', digits[code / 16], digits[code % 16]};
  }
  return text;
}

const std::vector<std::string>& extensions_of(bool FormatInfo::*does) {
  const auto listed = [](bool FormatInfo::*wanted) {
    std::vector<std::string> list;
    for (const FormatInfo& format : formats())
      if (format.*wanted) list.insert(list.end(), format.extensions.begin(), format.extensions.end());
    return list;
  };
  static const std::vector<std::string> read = listed(&FormatInfo::reads);
  static const std::vector<std::string> written = listed(&FormatInfo::writes);
  static const std::vector<std::string> paged = listed(&FormatInfo::pages);
  return does == &FormatInfo::reads ? read : does == &FormatInfo::writes ? written : paged;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

bool is_extension_of(bool FormatInfo::*does, std::string extension) {
  extension = lower(std::move(extension));
  const std::vector<std::string>& known = extensions_of(does);
  return std::find(known.begin(), known.end(), extension) != known.end();
}

bool is_glob(const fs::path& path) {
  std::error_code ignored;
  return has_wildcard(path) && !fs::exists(fs::symlink_status(path, ignored));
}

fs::path fixed_folder_of_glob(const fs::path& pattern) {
  fs::path folder;
  for (const fs::path& part : pattern) {
    if (has_wildcard(part)) break;
    folder /= part;
  }
  return folder;
}

void expand_glob(const fs::path& pattern, const std::function<void(const fs::path&)>& found) {
  std::vector<std::string> parts;
  const fs::path root = fixed_folder_of_glob(pattern);
  bool fixed = true;
  for (const fs::path& part : pattern) {
    fixed = fixed && !has_wildcard(part);
    const bool repeated = part == "**" && !parts.empty() && parts.back() == "**";
    if (!fixed && !repeated && !part.empty()) parts.push_back(part.native());
  }
  if (parts.back() == "**") parts.emplace_back("*");
  Expansion(root, std::move(parts), found).walk({}, 0);
}

bool NamePattern::is_one(const fs::path& text) {
  return text.native().find_first_of("{}") != std::string::npos;
}

NamePattern::NamePattern(const fs::path& text, bool counts, bool sized) {
  static const std::vector<std::string> of_files = {"dir", "ext", "index", "name", "stem", "sub"};
  static const std::vector<std::string> of_outputs = {"dir",  "ext",  "height", "index",
                                                      "name", "stem", "sub",    "width"};
  const std::vector<std::string>& known = sized ? of_outputs : of_files;
  const std::string& all = text.native();
  for (std::size_t at = 0; at < all.size(); ++at) {
    const char c = all[at];
    const bool is_brace = c == '{' || c == '}';
    const bool is_doubled = is_brace && at + 1 < all.size() && all[at + 1] == c;
    if (!is_brace || is_doubled) {
      if (tokens_.empty() || tokens_.back().is_placeholder) tokens_.emplace_back();
      tokens_.back().text += c;
      if (is_doubled) ++at;
      continue;
    }
    const std::size_t end = all.find('}', at);
    if (c == '}' || end == std::string::npos)
      refuse(text, ": a brace has no partner. Write {{ or }} for a brace in the name.");
    const std::string name = all.substr(at + 1, end - at - 1);
    if (std::ranges::find(known, name) == known.end())
      refuse(text, ": there is no placeholder {" + name + "}." + did_you_mean(name, known) +
                       "\nThere are {dir} {sub} {name} {stem} {ext}" + (sized ? " {width} {height}" : "") +
                       "; {{ and }} are braces.");
    tokens_.push_back({name, true});
    at = end;
  }
  const bool has_index = has("index");
  if (has_index && !counts)
    refuse(text,
           ": {index} counts the pictures of a series, in the name of the output: give a parameter several "
           "values, such as --focus 0.2,0.4.");
  if (counts && !has_index && !has_size())
    refuse(text, " is one name for a series of pictures. Put {index} into it, such as '{stem}_{index}.jpg'.");
}

fs::path NamePattern::fill(const NameFields& fields) const {
  std::string text;
  for (const Token& token : tokens_) text += token.is_placeholder ? fields.at(token.text) : token.text;
  return fs::path(text).lexically_normal();
}

fs::path NamePattern::fixed_folder() const {
  if (tokens_.empty() || tokens_.front().is_placeholder) return ".";
  return folder_of(tokens_.front().text);
}

namespace {

bool is_hidden(const fs::path& path) { return path.filename().native().starts_with('.'); }

/// Whether this is a picture of a format that Satin does not read. A pattern that matches one is meant to: it
/// becomes an input, which fails with advice.
bool is_picture_of_others(const fs::path& name) {
  constexpr std::string_view extensions =
      " .heic .heif .avif .gif .psd .xcf .svg .jxl .ico .dng .cr2 .cr3 .nef .arw .raf .orf .rw2 .pef ";
  const std::string extension = lower(name.extension().string());
  return !extension.empty() && extensions.find(" " + extension + " ") != std::string_view::npos;
}

/// Collects the files of each input.
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
      std::error_code ignored;  // dangling links are skipped
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
      std::to_string(files.size()) + (files.size() == 1 ? " file is not a picture that Satin reads: "
                                                        : " files are not pictures that Satin reads: ");
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

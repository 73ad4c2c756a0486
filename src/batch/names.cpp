#include "batch/names.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include "satin/error.h"
#include "satin/json.h"
#include "satin/param.h"

namespace satin::batch {
namespace {

namespace fs = std::filesystem;

bool has_wildcard(const fs::path& part) { return part.native().find_first_of("*?[") != std::string::npos; }

class Expansion {
 public:
  using Found = std::function<void(const fs::path&)>;

  Expansion(fs::path root, std::vector<std::string> parts, const Found& found)
      : root_(std::move(root)), parts_(std::move(parts)), found_(found) {}

  /// `relative` is a folder that matches the parts before `part`.
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

struct Placeholder {
  const char* name;
  std::string NameFields::*field;
};

constexpr std::array placeholders = {
    Placeholder{"dir", &NameFields::dir},     Placeholder{"ext", &NameFields::ext},
    Placeholder{"index", &NameFields::index}, Placeholder{"name", &NameFields::name},
    Placeholder{"stem", &NameFields::stem},   Placeholder{"sub", &NameFields::sub}};

[[noreturn]] void refuse_one_name(const fs::path& whole) {
  throw Error(ErrorKind::usage, quoted(whole) +
                                    " is one name for a series of pictures. Put {index} into it, such as "
                                    "'{stem}_{index}.jpg'.");
}

[[noreturn]] void refuse_index(const fs::path& whole) {
  throw Error(ErrorKind::usage,
              quoted(whole) +
                  ": {index} counts the pictures of a series, in the name of the output: give "
                  "a parameter several values, such as --focus 0.2,0.4.");
}

std::string NameFields::*field_of(const std::string& name, const fs::path& whole) {
  const auto* found = std::find_if(placeholders.begin(), placeholders.end(),
                                   [&](const Placeholder& entry) { return entry.name == name; });
  if (found != placeholders.end()) return found->field;
  std::vector<std::string> names;
  for (const Placeholder& entry : placeholders) names.emplace_back(entry.name);
  throw Error(ErrorKind::usage, quoted(whole) + ": there is no placeholder {" + name + "}." +
                                    did_you_mean(name, names) +
                                    "\nThere are {dir} {sub} {name} {stem} {ext}; {{ and }} are braces.");
}

[[noreturn]] void refuse_brace(const fs::path& whole) {
  throw Error(ErrorKind::usage,
              quoted(whole) + ": a brace stands alone. Write {{ or }} for a brace in the name.");
}

}  // namespace

std::string quoted(const fs::path& path) { return "'" + printable(path.native()) + "'"; }

bool is_stream(const fs::path& path) { return path == "-"; }

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
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

NamePattern::NamePattern(const fs::path& text, bool counts) {
  const std::string& all = text.native();
  for (std::size_t at = 0; at < all.size(); ++at) {
    const char c = all[at];
    const bool doubled = at + 1 < all.size() && all[at + 1] == c;
    if (c != '{' && c != '}') {
      add_text(c);
    } else if (doubled) {
      add_text(c);
      ++at;
    } else {
      const std::size_t end = all.find('}', at);
      if (c == '}' || end == std::string::npos) refuse_brace(text);
      pieces_.push_back({"", field_of(all.substr(at + 1, end - at - 1), text)});
      at = end;
    }
  }
  const bool has_index = std::any_of(pieces_.begin(), pieces_.end(),
                                     [](const Piece& piece) { return piece.field == &NameFields::index; });
  if (has_index && !counts) refuse_index(text);
  if (counts && !has_index) refuse_one_name(text);
}

void NamePattern::add_text(char c) {
  if (pieces_.empty() || pieces_.back().field != nullptr) pieces_.emplace_back();
  pieces_.back().text += c;
}

fs::path NamePattern::fill(const NameFields& fields) const {
  std::string text;
  for (const Piece& piece : pieces_) text += piece.field == nullptr ? piece.text : fields.*piece.field;
  return fs::path(text).lexically_normal();
}

fs::path NamePattern::fixed_folder() const {
  if (pieces_.empty() || pieces_.front().field != nullptr) return ".";
  const std::string& text = pieces_.front().text;
  const std::size_t end = text.find_last_of('/');
  if (end == std::string::npos) return ".";
  return end == 0 ? fs::path("/") : fs::path(text.substr(0, end));
}

}  // namespace satin::batch

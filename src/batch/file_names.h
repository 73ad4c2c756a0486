#pragma once
// File names: how messages show them, which inputs paths, folders and wildcards lead to, and names with
// placeholders.

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "satin/batch.h"
#include "satin/io.h"

namespace satin::batch {

/// Returns a path for messages: quoted, on one line, without control characters.
[[nodiscard]] std::string quoted(const std::filesystem::path& path);

/// Whether the path is "-", which is standard input or output.
[[nodiscard]] bool is_stream(const std::filesystem::path& path);

/// Returns the folder of a file, or ".".
[[nodiscard]] std::filesystem::path folder_of(const std::filesystem::path& file);

/// Returns the name of a file relative to the folder of another one. Bytes that are not `plain` become %XX.
[[nodiscard]] std::string reference(const std::filesystem::path& file, const std::filesystem::path& from,
                                    bool (*plain)(char));

[[nodiscard]] bool is_utf8(std::string_view text);

/// Returns the text with ASCII letters in lower case.
[[nodiscard]] std::string lower(std::string text);
/// Returns the extensions, in lower case with their dot, of the formats that Satin reads, or writes.
[[nodiscard]] const std::vector<std::string>& extensions_of(bool FormatInfo::*does);
/// Whether extensions_of() contains this extension, in either case.
[[nodiscard]] bool is_extension_of(bool FormatInfo::*does, std::string extension);

/// Whether the path has a wildcard (* ? [) and no file has exactly that name.
[[nodiscard]] bool is_glob(const std::filesystem::path& path);

/// Returns the folder before the first wildcard, or an empty path.
[[nodiscard]] std::filesystem::path fixed_folder_of_glob(const std::filesystem::path& pattern);

/// Calls `found` for every file that matches, some perhaps twice, with its name relative to
/// fixed_folder_of_glob(). `*`, `?` and `[a-z]` match within a name. `**` matches any number of folders but
/// does not follow links. Names that begin with a dot match only if the pattern has the dot. Unreadable
/// folders are treated as empty.
void expand_glob(const std::filesystem::path& pattern,
                 const std::function<void(const std::filesystem::path& relative)>& found);

/// Values of the placeholders in a name such as {dir}/{stem}_soft.{ext}: `dir`, the folder of the input;
/// `sub`, that folder relative to the given one; `name` and `stem`, the file name with and without its
/// extension; `ext`, the extension without its dot; `index`, the number of a picture in its series; `width`
/// and `height`, the size of the output.
using NameFields = std::map<std::string, std::string>;

/// A file name with placeholders in braces.
class NamePattern {
 public:
  [[nodiscard]] static bool is_one(const std::filesystem::path& text);

  /// Throws Error(usage) for an unknown placeholder, with the nearest known one, and for an unpaired brace.
  /// With `counts` the name is for a series of pictures and must have {index}. With `sized` it may have
  /// {width} and {height}, which stand for {index} in a series.
  explicit NamePattern(const std::filesystem::path& text, bool counts = false, bool sized = false);

  [[nodiscard]] bool has(std::string_view placeholder) const {
    return std::ranges::any_of(
        tokens_, [&](const Token& token) { return token.is_placeholder && token.text == placeholder; });
  }
  [[nodiscard]] bool has_size() const { return has("width") || has("height"); }

  [[nodiscard]] std::filesystem::path fill(const NameFields& fields) const;
  /// Returns the folder before the first placeholder, or ".".
  [[nodiscard]] std::filesystem::path fixed_folder() const;

 private:
  struct Token {
    std::string text;
    bool is_placeholder = false;  ///< `text` is the name of a placeholder
  };

  std::vector<Token> tokens_;
};

/// The inputs of a batch.
struct InputList {
  PictureList files;
  std::vector<std::filesystem::path> unread;  ///< other files in the folders and among the matches, sorted
  bool many = false;                          ///< whether a folder, a pattern or several files were given
};

/// Finds the inputs. Throws Error(usage) if there are none, and for standard input among others. Throws
/// Error(input) if the folders have no picture or no file matches a pattern.
[[nodiscard]] InputList find_inputs(const BatchOptions& options);

/// Whether the extension is that of a format that Satin reads.
[[nodiscard]] bool is_picture(const std::filesystem::path& name);

/// Returns the error for a file that cannot be opened. Pipes and devices pass.
[[nodiscard]] std::optional<Error> reading_problem(const std::filesystem::path& path);

}  // namespace satin::batch

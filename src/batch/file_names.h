#pragma once
// Names of files: how messages show them, the inputs that paths, folders and wildcards lead to, and names
// made of placeholders.

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "satin/batch.h"
#include "satin/io.h"

namespace satin::batch {

/// A path as messages show it: on one line, with nothing that a terminal would obey.
[[nodiscard]] std::string quoted(const std::filesystem::path& path);

/// Standard input or output.
[[nodiscard]] bool is_stream(const std::filesystem::path& path);

/// The folder of a file; "." for none.
[[nodiscard]] std::filesystem::path folder_of(const std::filesystem::path& file);

[[nodiscard]] bool is_utf8(std::string_view text);

/// The text with its letters of ASCII in lower case.
[[nodiscard]] std::string lower(std::string text);
/// Extensions, in lower case with their dot, of the formats that Satin reads, or writes.
[[nodiscard]] const std::vector<std::string>& extensions_of(bool FormatInfo::*does);
/// True if they hold this extension, in either case.
[[nodiscard]] bool is_extension_of(bool FormatInfo::*does, std::string extension);

/// True if there is a wildcard (* ? [) and no file of that very name.
[[nodiscard]] bool is_glob(const std::filesystem::path& path);

/// The folder before the first wildcard; empty for none.
[[nodiscard]] std::filesystem::path fixed_folder_of_glob(const std::filesystem::path& pattern);

/// Calls `found` for every file below that folder that matches, some perhaps twice, with its name from there.
/// `*`, `?` and `[a-z]` match within a name, `**` matches any number of folders but enters no links; names
/// that begin with a dot match only if that is spelled out. Folders that cannot be read hold nothing.
void expand_glob(const std::filesystem::path& pattern,
                 const std::function<void(const std::filesystem::path& relative)>& found);

/// What the placeholders of {dir}/{stem}_soft.{ext} stand for.
struct NameFields {
  std::string dir;      ///< folder of the input; "." for none
  std::string sub;      ///< its folder below the folder that was named; "." for none
  std::string name;     ///< its name
  std::string stem;     ///< its name without extension
  std::string ext;      ///< the extension without its dot
  std::string index{};  ///< of a picture in its series
};

class NamePattern {
 public:
  /// True if there is a brace.
  [[nodiscard]] static bool is_one(const std::filesystem::path& text);

  /// Throws Error(usage) for an unknown placeholder, with the nearest real one, and for a single brace.
  /// `counts`: it is of a series of pictures, and has {index}.
  explicit NamePattern(const std::filesystem::path& text, bool counts = false);

  [[nodiscard]] std::filesystem::path fill(const NameFields& fields) const;
  /// The folder before the first placeholder; "." for none.
  [[nodiscard]] std::filesystem::path fixed_folder() const;

 private:
  struct Piece {
    std::string text;  ///< stands for itself if there is no field
    std::string NameFields::*field = nullptr;
  };

  void add_text(char c);

  std::vector<Piece> pieces_;
};

struct InputList {
  PictureList files;
  std::vector<std::filesystem::path> unread;  ///< what folders and patterns lead to beside pictures, sorted
  bool many = false;                          ///< a folder, a pattern, or more than one file
};

/// Throws Error(usage) for none, and for standard input among others; Error(input) if the folders hold no
/// picture or no file matches a pattern.
[[nodiscard]] InputList find_inputs(const BatchOptions& options);

/// True if the extension is of a format that Satin reads.
[[nodiscard]] bool is_picture(const std::filesystem::path& name);

/// The error for a file that cannot be opened, if so. Pipes and devices pass.
[[nodiscard]] std::optional<Error> reading_problem(const std::filesystem::path& path);

}  // namespace satin::batch

#pragma once
// Names with placeholders: {dir}/{stem}_soft.{ext}

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace satin::batch {

/// What a placeholder may stand for.
struct NameFields {
  std::string dir;   ///< folder of the input; "." for none
  std::string sub;   ///< its folder below the folder that was named; "." for none
  std::string name;  ///< its name
  std::string stem;  ///< the same without extension
  std::string ext;   ///< the extension without its dot
};

class NamePattern {
 public:
  /// True if there is a brace.
  [[nodiscard]] static bool is_one(const std::filesystem::path& text);

  /// Throws Error(usage) for an unknown placeholder, with the nearest real one, and for a single brace.
  explicit NamePattern(const std::filesystem::path& text);

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

}  // namespace satin::batch

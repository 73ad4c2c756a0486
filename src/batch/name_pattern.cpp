#include "batch/name_pattern.h"

#include <algorithm>
#include <array>

#include "batch/quoted.h"
#include "satin/error.h"
#include "satin/param.h"

namespace satin::batch {
namespace {

namespace fs = std::filesystem;

struct Placeholder {
  const char* name;
  std::string NameFields::*field;
};

constexpr std::array placeholders = {
    Placeholder{"dir", &NameFields::dir}, Placeholder{"ext", &NameFields::ext},
    Placeholder{"name", &NameFields::name}, Placeholder{"stem", &NameFields::stem},
    Placeholder{"sub", &NameFields::sub}};

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

bool NamePattern::is_one(const fs::path& text) {
  return text.native().find_first_of("{}") != std::string::npos;
}

NamePattern::NamePattern(const fs::path& text) {
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

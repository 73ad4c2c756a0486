#pragma once
// Words for people: examples of every command, and what words of other programs lead to.

#include <string>
#include <string_view>
#include <vector>

namespace satin::app {

/// Two command lines that show what the command is for; none of a command that needs none.
[[nodiscard]] std::vector<std::string> examples_of(std::string_view command);

/// A sentence that names Satin's way to do what `word` means in other programs; empty for an unknown word.
[[nodiscard]] std::string advice_for(std::string_view word);

}  // namespace satin::app

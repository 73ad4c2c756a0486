#pragma once
// Words for people: examples of every command, and what words of other programs lead to.

#include <string>
#include <string_view>
#include <vector>

namespace satin::app {

/// Two command lines that show what the command is for; none of a command that needs none.
[[nodiscard]] std::vector<std::string> examples_of(std::string_view command);

/// A sentence that names Satin's way to do what `word` means in other programs, in any spelling of capitals,
/// dashes and underscores; empty for an unknown word.
[[nodiscard]] std::string advice_for(std::string_view word);

/// The library's message about a filter that does not exist, with that sentence in place of where the list
/// is; every other message as it is.
[[nodiscard]] std::string with_advice(std::string message);

}  // namespace satin::app

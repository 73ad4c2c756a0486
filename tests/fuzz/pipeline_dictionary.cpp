// Prints a dictionary for libFuzzer: the names and choices of every filter, and the signs of the grammar.

#include <cstdio>
#include <set>
#include <string>

#include "satin/filter.h"

int main() {
  std::set<std::string> words = {"|",  "=", "'",   " ", "%",    ";",   ",",
                                 "-1", "0", "1.5", "8", "true", "nan", "1e9"};
  for (const satin::FilterRecord& filter : satin::filters()) {
    words.insert(filter.name);
    for (const satin::ParameterRecord& parameter : filter.parameters) {
      words.insert(parameter.name + "=");
      words.insert(parameter.choices.begin(), parameter.choices.end());
      if (!parameter.default_text.empty()) words.insert(parameter.default_text);
    }
    for (const satin::InputRecord& input : filter.inputs) words.insert(input.name + "=");
  }
  for (const std::string& word : words) std::printf("\"%s\"\n", word.c_str());
}

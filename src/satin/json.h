#pragma once
// Writes JSON.

#include <cstddef>
#include <string>
#include <string_view>

#include "satin/image.h"

namespace [[gnu::visibility("default")]] satin {

/// Builds a JSON text. It adds commas and quotes; the caller orders the calls. Bytes that are not UTF-8
/// become U+FFFD.
class JsonWriter {
 public:
  JsonWriter& begin_object() { return open('{'); }  ///< opens an object
  JsonWriter& end_object() { return close('}'); }   ///< closes the object
  JsonWriter& begin_array() { return open('['); }   ///< opens an array
  JsonWriter& end_array() { return close(']'); }    ///< closes the array
  JsonWriter& key(std::string_view name);           ///< the name of the next value
  JsonWriter& string(std::string_view text);        ///< writes a text
  JsonWriter& real(double value);                   ///< writes a number; infinity and NaN become null
  JsonWriter& null() { return raw("null"); }        ///< writes null
  JsonWriter& boolean(bool value) { return raw(value ? "true" : "false"); }    ///< writes true or false
  JsonWriter& integer(long long value) { return raw(std::to_string(value)); }  ///< writes an integer
  /// Writes an array by calling `write` for every element of a range. Each call must write one value.
  template <class Range, class Write>
  JsonWriter& array(const Range& range, const Write& write) {
    begin_array();
    for (const auto& each : range) write(each);
    return end_array();
  }
  JsonWriter& reals(const auto& values) {  ///< writes an array of numbers
    return array(values, [this](double value) { real(value); });
  }
  JsonWriter& integers(const auto& values) {  ///< writes an array of integers
    return array(values, [this](auto value) { integer(static_cast<long long>(value)); });
  }
  JsonWriter& strings(const auto& texts) {  ///< writes an array of texts
    return array(texts, [this](const auto& text) { string(text); });
  }
  JsonWriter& shape(const Shape& shape);  ///< writes the members width, height, channels and type

  /// The text so far.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  JsonWriter& raw(std::string_view text);
  void separate();

  std::string text_;
  bool needs_comma_ = false;
};

/// Formats a number with at most `digits` decimals and no trailing zeros.
[[nodiscard]] std::string short_number(double value, int digits = 4);

/// Returns the length of the UTF-8 sequence at the start of `text`, which must not be empty; 0 if there is
/// none.
[[nodiscard]] std::size_t utf8_length(std::string_view text);

}  // namespace satin

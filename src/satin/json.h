#pragma once
// Writes JSON.

#include <cstddef>
#include <string>
#include <string_view>

#include "satin/image.h"

namespace [[gnu::visibility("default")]] satin {

/// Writes commas and quotes; the order of the calls is the caller's. Bytes of texts that are not UTF-8 become
/// U+FFFD.
class JsonWriter {
 public:
  JsonWriter& begin_object() { return open('{'); }  ///< until end_object()
  JsonWriter& end_object() { return close('}'); }   ///< of the last begin_object()
  JsonWriter& begin_array() { return open('['); }   ///< until end_array()
  JsonWriter& end_array() { return close(']'); }    ///< of the last begin_array()
  JsonWriter& key(std::string_view name);           ///< of the value that comes next
  JsonWriter& string(std::string_view text);        ///< a text
  JsonWriter& real(double value);                   ///< a number; infinity and NaN become null
  JsonWriter& null() { return raw("null"); }        ///< no value
  JsonWriter& boolean(bool value) { return raw(value ? "true" : "false"); }    ///< true or false
  JsonWriter& integer(long long value) { return raw(std::to_string(value)); }  ///< a whole number
  /// An array of what the callable `write` writes for every element of a range.
  template <class Range, class Write>
  JsonWriter& array(const Range& range, const Write& write) {
    begin_array();
    for (const auto& each : range) write(each);
    return end_array();
  }
  JsonWriter& reals(const auto& values) {  ///< an array of numbers
    return array(values, [this](double value) { real(value); });
  }
  JsonWriter& integers(const auto& values) {  ///< an array of whole numbers
    return array(values, [this](auto value) { integer(static_cast<long long>(value)); });
  }
  JsonWriter& strings(const auto& texts) {  ///< an array of texts
    return array(texts, [this](const auto& text) { string(text); });
  }
  JsonWriter& shape(const Shape& shape);  ///< members: width, height, channels, type

  /// All that was written.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  JsonWriter& raw(std::string_view text);
  void separate();

  std::string text_;
  bool needs_comma_ = false;
};

/// Text with `digits` behind the point at most, no zeros at the end.
[[nodiscard]] std::string short_number(double value, int digits = 4);

/// Length of the UTF-8 sequence at the start of `text`, which is not empty; 0 if there is none.
[[nodiscard]] std::size_t utf8_length(std::string_view text);

}  // namespace satin

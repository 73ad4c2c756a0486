#pragma once
// Writes JSON.

#include <string>
#include <string_view>

namespace satin::app {

/// Commas and quotes are its business, the order of the calls is the caller's. Bytes of names that are not
/// UTF-8 become U+FFFD.
class JsonWriter {
 public:
  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }
  JsonWriter& key(std::string_view name);
  JsonWriter& string(std::string_view text);
  JsonWriter& integer(long long value) { return raw(std::to_string(value)); }
  JsonWriter& boolean(bool value) { return raw(value ? "true" : "false"); }
  /// Infinity and NaN become null.
  JsonWriter& real(double value);

  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  JsonWriter& raw(std::string_view text);
  void separate();

  std::string text_;
  bool needs_comma_ = false;
};

}  // namespace satin::app

// Any text is either refused with Error(usage), whose caret points into it, or is a pipeline whose canonical
// text parses back to itself.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "satin/error.h"
#include "satin/pipeline.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void check_refusal(const satin::Error& error, std::string_view text) {
  require(error.kind() == satin::ErrorKind::usage);
  const std::string message = error.what();
  const std::string beginning = "Column ";
  require(message.compare(0, beginning.size(), beginning) == 0);
  const unsigned long column = std::strtoul(message.c_str() + beginning.size(), nullptr, 10);
  require(column >= 1 && column <= text.size() + 1);
  require(message.back() == '^');
}

bool same(const satin::Pipeline& a, const satin::Pipeline& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const satin::FilterRecord& filter = a[i].parameters.filter();
    if (filter.name != b[i].parameters.filter().name) return false;
    for (const satin::ParameterRecord& parameter : filter.parameters)
      if (a[i].parameters.get(parameter.name) != b[i].parameters.get(parameter.name)) return false;
    if (a[i].side_inputs.size() != b[i].side_inputs.size()) return false;
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  satin::Pipeline pipeline;
  try {
    pipeline = satin::parse_pipeline(text);
  } catch (const satin::Error& error) {
    check_refusal(error, text);
    return 0;
  }
  const std::string canonical = satin::print_pipeline(pipeline);
  const satin::Pipeline again = satin::parse_pipeline(canonical);
  require(same(again, pipeline));
  require(satin::print_pipeline(again) == canonical);
  return 0;
}

#include "tests/scan/scan_case.h"

#include <algorithm>
#include <cstring>

namespace satin::test {
namespace {

constexpr std::int64_t guard = 64;
constexpr std::uint8_t poison = 0xCD;

std::int64_t bytes_of(std::int64_t size, Type type) {
  return size * static_cast<std::int64_t>(size_of(type));
}

}  // namespace

MutableArrayView Place::copy_bytes(const void* values, std::int64_t size, Type type) {
  const std::int64_t bytes = bytes_of(size, type);
  std::vector<std::uint8_t> host(static_cast<std::size_t>(bytes + 2 * guard), poison);
  if (values != nullptr && bytes > 0)
    std::memcpy(host.data() + guard, values, static_cast<std::size_t>(bytes));
  Array array(owner_, ArrayView(host));
  MutableArrayView view = array.view().part(guard, bytes);
  view.size = size;
  view.type = type;
  arrays_.push_back({std::move(array), view.data});
  return view;
}

void Place::read_bytes(const ArrayView& view, void* values) {
  const auto array = std::find_if(arrays_.begin(), arrays_.end(),
                                  [&](const Guarded& guarded) { return guarded.data == view.data; });
  std::vector<std::uint8_t> host(static_cast<std::size_t>(array->bytes.size()));
  device_under_test().synchronize();
  array->bytes.download(host);
  const auto inside = static_cast<std::size_t>(bytes_of(view.size, view.type));
  if (inside > 0) std::memcpy(values, host.data() + guard, inside);
  const auto intact = [](std::uint8_t byte) { return byte == poison; };
  EXPECT_TRUE(std::all_of(host.begin(), host.begin() + guard, intact)) << "written before the array";
  EXPECT_TRUE(std::all_of(host.end() - guard, host.end(), intact)) << "written behind the array";
}

}  // namespace satin::test

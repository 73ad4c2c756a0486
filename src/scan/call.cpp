#include "scan/call.h"

#include <algorithm>

#include "core/with_type.h"
#include "satin/error.h"
#include "scan/maths/scan_operator.h"
#include "scan/scan.h"

namespace satin {
namespace {

bool overlap(const ArrayView& a, const ArrayView& b) {
  if (a.size == 0 || b.size == 0 || a.memory != b.memory) return false;
  const auto begin_a = reinterpret_cast<std::uintptr_t>(a.data);
  const auto begin_b = reinterpret_cast<std::uintptr_t>(b.data);
  return begin_a < begin_b + static_cast<std::uintptr_t>(b.size) * size_of(b.type) &&
         begin_b < begin_a + static_cast<std::uintptr_t>(a.size) * size_of(a.type);
}

bool same(const ArrayView& a, const ArrayView& b) {
  return a.data == b.data && a.size == b.size && a.type == b.type && a.memory == b.memory;
}

bool can_sum(Type values, Type sums) {
  return with_type(
      values, [&]<class In>() { return with_type(sums, []<class Out>() { return sums_into<In, Out>; }); });
}

std::string number_text(const Scalar& number) {
  return std::visit([](auto value) { return std::to_string(value); }, number.value());
}

std::string elements(std::int64_t count) {
  return std::to_string(count) + (count == 1 ? " element" : " elements");
}

std::string list_of(std::initializer_list<Type> types) {
  std::string text;
  for (const Type& type : types) {
    if (&type != types.begin()) text += &type + 1 == types.end() ? " or " : ", ";
    text += name_of(type);
  }
  return text;
}

std::size_t bytes_of(const ArrayView& view) {
  return static_cast<std::size_t>(view.size) * size_of(view.type);
}

}  // namespace

Arrays::Arrays(const Device& device, const char* function) : device_(device), function_(function) {}

void Arrays::refuse(const std::string& what) const {
  throw Error(ErrorKind::usage, function_ + "(): " + what + ".");
}

const ArrayView& Arrays::find(const std::string& name) const {
  return std::find_if(arrays_.begin(), arrays_.end(), [&](const Named& array) { return array.name == name; })
      ->view;
}

void Arrays::note(const char* name, const ArrayView& view) {
  const std::string text = name;
  constexpr std::int64_t most = INT64_MAX / 8;
  if (view.size < 0 || view.size > most)
    refuse(text + " has " + elements(view.size) + "; sizes are 0 or more, and their bytes fit 63 bits");
  if (view.size > 0 && view.data == nullptr) refuse(text + " has " + elements(view.size) + ", but no data");
  if (reinterpret_cast<std::uintptr_t>(view.data) % size_of(view.type) != 0)
    refuse(text + " is not aligned to its elements of type " + name_of(view.type));
  if (view.memory == Memory::device && !device_.is_cuda())
    refuse(text + " is in the memory of a GPU, which " + device_.info().id + " cannot reach: copy it first");
  arrays_.push_back({text, view});
}

void Arrays::input(const char* name, const ArrayView& view) { note(name, view); }

void Arrays::result(const char* name, const MutableArrayView& view, const std::string& in_place) {
  note(name, view);
  for (const Named& other : arrays_) {
    if (&other == &arrays_.back() || !overlap(view, other.view)) continue;
    if (other.name != in_place)
      refuse(std::string(name) + " overlaps " + other.name + "; they must be apart");
    if (!same(view, other.view))
      refuse(std::string(name) + " overlaps " + other.name +
             "; in place, both are the same array of one type and size");
  }
}

void Arrays::require_type(std::initializer_list<Type> types) const {
  const Named& last = arrays_.back();
  if (std::find(types.begin(), types.end(), last.view.type) == types.end())
    refuse(last.name + " is of type " + name_of(last.view.type) + "; it must be " + list_of(types));
}

void Arrays::require_type_of(const char* other) const {
  const Named& last = arrays_.back();
  if (last.view.type != find(other).type)
    refuse(last.name + " is of type " + name_of(last.view.type) + "; it must be " +
           name_of(find(other).type) + ", as " + other);
}

void Arrays::require_size_of(const char* other) const {
  require_size(find(other).size, std::string("as many as ") + other);
}

void Arrays::require_size(std::int64_t size, const std::string& why) const {
  const Named& last = arrays_.back();
  if (last.view.size != size)
    refuse(last.name + " has " + elements(last.view.size) + "; it must have " + std::to_string(size) + ", " +
           why);
}

void Arrays::require_sum_of(const char* values, Operator op) const {
  const Named& last = arrays_.back();
  const Type from = find(values).type;
  const bool wider = op == Operator::sum || op == Operator::product;
  if (from == last.view.type || (wider && can_sum(from, last.view.type))) return;
  std::string possible = name_of(from);
  for (const Type type : {Type::u32, Type::u64, Type::f64})
    if (wider && type != from && can_sum(from, type)) possible += std::string(" or ") + name_of(type);
  refuse(last.name + " is of type " + name_of(last.view.type) + "; for " + values + " of type " +
         name_of(from) + " it must be " + possible);
}

void require_fit(const Arrays& arrays, const Scalar& number, Type type) {
  const bool fits = with_type(type, [&]<class T>() { return value_of<T>(number).has_value(); });
  if (!fits) arrays.refuse("the number " + number_text(number) + " does not fit " + name_of(type));
}

MutableArrayView Stage::workspace(Type type, std::int64_t size) {
  const std::size_t bytes = static_cast<std::size_t>(size) * size_of(type);
  buffers_.push_back(backend_.allocate(bytes));
  return {buffers_.back().get(), size, type, backend_.host_memory ? Memory::host : Memory::device};
}

ArrayView Stage::input(const ArrayView& view) {
  if (!needs_copy(view)) return view;
  const MutableArrayView copy = workspace(view.type, view.size);
  backend_.upload(copy.data, view.data, bytes_of(view), stream_);
  return copy;
}

MutableArrayView Stage::result(const MutableArrayView& view) {
  if (!needs_copy(view)) return view;
  results_.push_back({view, workspace(view.type, view.size)});
  return results_.back().device;
}

void Stage::fill_identity(const MutableArrayView& result, Operator op) {
  with_type(result.type, [&]<class T>() {
    const std::vector<T> values(static_cast<std::size_t>(result.size), identity_of<T>(op));
    if (result.memory == Memory::host) {
      std::copy(values.begin(), values.end(), result.values<T>());
    } else if (!values.empty()) {
      backend_.upload(result.data, values.data(), bytes_of(result), stream_);
    }
  });
}

void Stage::finish(std::int64_t most) {
  for (const Copied& result : results_) {
    const std::int64_t count = std::min(most, result.host.size);
    if (count > 0)
      backend_.download(result.host.data, result.device.data, bytes_of(result.host.part(0, count)), stream_);
  }
  if (!buffers_.empty()) backend_.synchronize(stream_);
}

}  // namespace satin

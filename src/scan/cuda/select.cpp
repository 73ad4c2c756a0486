// Selection and partition on the GPU. A predicate or a bin becomes one interval of ordered keys (Interval),
// so that one kernel for each element size serves all types, comparisons and bins.

#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

#include "core/with_type.h"
#include "kernels/scan/launch.h"
#include "scan/cuda/operations.h"
#include "scan/cuda/space.h"
#include "scan/maths/bin.h"
#include "scan/maths/scan_operator.h"
#include "scan/scan.h"

namespace satin::cuda {
namespace {

using kernels::Interval;

template <class T>
using WordOf =
    std::conditional_t<sizeof(T) == 1, std::uint8_t,
                       std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                          std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

/// Keys that order as the numbers of a type do. NaN has a key above last().
template <class T>
struct Keys {
  using Word = WordOf<T>;
  static constexpr Word sign = static_cast<Word>(Word{1} << (sizeof(Word) * 8 - 1));
  /// Difference between an integer's key and its bits. It is the sign bit, so addition and exclusive or
  /// agree.
  static constexpr Word offset = std::is_integral_v<T> && std::is_signed_v<T> ? sign : Word{0};

  static Word of(T value) {
    const auto bits = std::bit_cast<Word>(value);
    if constexpr (std::is_floating_point_v<T>) return kernels::float_key(bits);
    return static_cast<Word>(bits ^ offset);
  }
  static T value(Word key) {
    if constexpr (std::is_floating_point_v<T>)
      return std::bit_cast<T>((key & sign) != 0 ? static_cast<Word>(key ^ sign) : static_cast<Word>(~key));
    else
      return std::bit_cast<T>(static_cast<Word>(key ^ offset));
  }
  static Word first() {
    if constexpr (std::is_floating_point_v<T>) return of(-std::numeric_limits<T>::infinity());
    return 0;
  }
  static Word last() {
    if constexpr (std::is_floating_point_v<T>) return of(std::numeric_limits<T>::infinity());
    return std::numeric_limits<Word>::max();
  }
};

constexpr Interval nothing{0, 0, true};

/// Returns the keys from `first` to `last`; nothing if first > last.
template <class T>
Interval between(WordOf<T> first, WordOf<T> last) {
  if (first > last) return nothing;
  return {static_cast<WordOf<T>>(first ^ Keys<T>::offset), static_cast<WordOf<T>>(last - first)};
}

/// Returns all keys except one, those of NaN included.
template <class T>
Interval all_but(WordOf<T> key) {
  constexpr WordOf<T> all = std::numeric_limits<WordOf<T>>::max();
  return {static_cast<WordOf<T>>((key ^ Keys<T>::offset) + 1U), static_cast<WordOf<T>>(all - 1)};
}

template <class T>
Interval compared(Comparison comparison, T number) {
  using Key = Keys<T>;
  constexpr WordOf<T> all = std::numeric_limits<WordOf<T>>::max();
  if (is_nan(number)) return comparison == Comparison::not_equal ? between<T>(0, all) : nothing;
  const auto key = Key::of(number);
  switch (comparison) {
    case Comparison::less:
      return key == Key::first() ? nothing : between<T>(Key::first(), static_cast<WordOf<T>>(key - 1));
    case Comparison::less_equal:
      return between<T>(Key::first(), key);
    case Comparison::greater:
      return key == Key::last() ? nothing : between<T>(static_cast<WordOf<T>>(key + 1), Key::last());
    case Comparison::greater_equal:
      return between<T>(key, Key::last());
    case Comparison::equal:
      return between<T>(key, key);
    case Comparison::not_equal:
      return all_but<T>(key);
  }
  return nothing;
}

/// Returns the smallest key of a number whose bin is at least `bin`, if there is one. Binary search works
/// since every step of bin_of() is monotonic.
template <class T>
std::optional<WordOf<T>> first_key_from(std::int64_t bin, const BinRule& rule) {
  using Key = Keys<T>;
  const auto reaches = [&](WordOf<T> key) {
    return std::int64_t{bin_of(static_cast<double>(Key::value(key)), rule)} >= bin;
  };
  WordOf<T> first = Key::first();
  WordOf<T> last = Key::last();
  if (!reaches(last)) return std::nullopt;
  while (first < last) {
    const auto middle = static_cast<WordOf<T>>(first + (last - first) / 2);
    if (reaches(middle))
      last = middle;
    else
      first = static_cast<WordOf<T>>(middle + 1);
  }
  return first;
}

/// Returns the interval of the numbers in a bin. The last bin holds NaN as well.
template <class T>
Interval of_bin(const InBin& in_bin) {
  const BinRule rule = bin_rule(*in_bin.bins);
  constexpr WordOf<T> all = std::numeric_limits<WordOf<T>>::max();
  const bool with_nan = std::is_floating_point_v<T> && in_bin.bin + 1 == std::int64_t{rule.count};
  const auto first = first_key_from<T>(in_bin.bin, rule);
  const auto next = first_key_from<T>(in_bin.bin + 1, rule);
  if (!first.has_value())
    return with_nan ? between<T>(static_cast<WordOf<T>>(Keys<T>::last() + 1), all) : nothing;
  if (next.has_value())
    return *next == *first ? nothing : between<T>(*first, static_cast<WordOf<T>>(*next - 1));
  return between<T>(*first, with_nan ? all : Keys<T>::last());
}

Interval interval_of(Type type, const Predicate& predicate) {
  return with_type(type, [&]<class T>() {
    return compared<T>(predicate.comparison, value_of<T>(predicate.number).value_or(T{}));
  });
}

Interval interval_of(Type type, const InBin& in_bin) {
  return with_type(type, [&]<class T>() { return of_bin<T>(in_bin); });
}

/// The elements of a mask that select: 1 to 255.
constexpr kernels::Interval not_zero{1, 254};

kernels::Interval interval_for(const Selection& selection) {
  if (const auto* predicate = std::get_if<Predicate>(&selection.by))
    return interval_of(selection.values.type, *predicate);
  if (const auto* in_bin = std::get_if<InBin>(&selection.by))
    return interval_of(selection.values.type, *in_bin);
  return not_zero;
}

int launch(kernels::Space& space, const Selection& selection, const kernels::Interval& interval,
           MutableArrayView result, std::int64_t* count, cudaStream_t stream) {
  const ArrayView& values = selection.values;
  if (selection.keep == Selection::Keep::indices) {
    const auto* mask = std::get_if<ArrayView>(&selection.by);
    return kernels::select_indices(space, mask != nullptr ? *mask : values, interval, result, count, stream);
  }
  const bool partition = selection.keep == Selection::Keep::partition;
  if (const auto* mask = std::get_if<ArrayView>(&selection.by))
    return kernels::select_by_mask(space, values, *mask, partition, result, count, stream);
  return kernels::select_in(space, values, interval, partition, result, count, stream);
}

std::int64_t select_nothing(CudaBackend& device, const Selection& selection, MutableArrayView result,
                            Stream stream) {
  if (selection.keep != Selection::Keep::partition) return 0;
  const ArrayView& values = selection.values;
  check(
      cudaMemcpyAsync(result.data, values.data, static_cast<std::size_t>(values.size) * size_of(values.type),
                      cudaMemcpyDeviceToDevice, device.stream_of(stream)),
      "copying what was not selected");
  device.synchronize(stream);
  return 0;
}

}  // namespace

std::int64_t select(Backend& backend, const Selection& selection, MutableArrayView result, Stream stream) {
  CudaBackend& device = as_cuda(backend);
  device.select();
  const StreamBuffer count(device, sizeof(std::int64_t), stream);
  const kernels::Interval interval = interval_for(selection);
  if (interval.empty) return select_nothing(device, selection, result, stream);
  run_in_space(device, stream, "selecting values", [&](kernels::Space& space) {
    return launch(space, selection, interval, result, count.as<std::int64_t>(), device.stream_of(stream));
  });
  if (selection.keep == Selection::Keep::partition) {
    kernels::reverse_behind(result, count.as<std::int64_t>(), device.stream_of(stream));
    check_launch("reversing what was not selected");
  }
  return download<std::int64_t>(device, count.get(), stream);
}

}  // namespace satin::cuda

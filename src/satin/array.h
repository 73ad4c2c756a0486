#pragma once
// One-dimensional arrays for satin/scan.h: views of memory that the caller owns, and an array that owns its
// memory.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <ranges>
#include <type_traits>

#include "satin/device.h"
#include "satin/image.h"

namespace [[gnu::visibility("default")]] satin {

/// The C++ types that an array may have: unsigned integers of 1 to 8 bytes, signed ones of 4, float, double.
template <class T>
concept Element = (std::unsigned_integral<T> && !std::same_as<T, bool>) ||
                  (std::signed_integral<T> && sizeof(T) == 4) ||
                  (std::floating_point<T> && std::numeric_limits<T>::is_iec559 && sizeof(T) <= 8);

/// Returns the Type that describes a C++ type.
template <Element T>
[[nodiscard]] constexpr Type type_of() noexcept {
  if constexpr (std::floating_point<T>) return sizeof(T) == 4 ? Type::f32 : Type::f64;
  if constexpr (std::signed_integral<T>) return Type::i32;
  constexpr Type unsigned_types[] = {Type::u8, Type::u16, Type::u32, Type::u64};
  return unsigned_types[sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3];
}

/// A contiguous range of elements that outlives the expression. It must be writable if Byte is not const.
template <class R, class Byte>
concept RangeOfElements = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
    std::ranges::borrowed_range<R> && Element<std::ranges::range_value_t<R>> &&
    (std::is_const_v<Byte> || !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>);

/// A view of `size` values that lie next to each other. `Byte` is std::byte or const std::byte. Vectors,
/// spans and C arrays in host memory convert implicitly.
template <class Byte>
struct BasicArrayView {
  Byte* data = nullptr;          ///< the first element
  std::int64_t size = 0;         ///< number of elements
  Type type = Type::u8;          ///< element type
  Memory memory = Memory::host;  ///< memory that holds the elements

  BasicArrayView() = default;
  /// Views elements whose type is known only at run time.
  BasicArrayView(Byte* first, std::int64_t count, Type element, Memory where = Memory::host) noexcept
      : data(first), size(count), type(element), memory(where) {}

  /// Views elements of a C++ type.
  template <class T>
  requires Element<std::remove_const_t<T>> &&
      (std::is_const_v<Byte> || !std::is_const_v<T>)BasicArrayView(T* first, std::int64_t count,
                                                                   Memory where = Memory::host) noexcept
      : data(reinterpret_cast<Byte*>(first)),
        size(count),
        type(type_of<std::remove_const_t<T>>()),
        memory(where) {}

  /// Views a vector, a span or a C array in host memory.
  template <RangeOfElements<Byte> R>
  // NOLINTNEXTLINE(google-explicit-constructor, bugprone-forwarding-reference-overload): a vector is an array
  BasicArrayView(R&& range) noexcept
      : BasicArrayView(std::ranges::data(range), static_cast<std::int64_t>(std::ranges::size(range))) {}

  /// Converts to a read-only view.
  // NOLINTNEXTLINE(google-explicit-constructor): a writable view is a view
  operator BasicArrayView<const std::byte>() const noexcept requires(!std::is_const_v<Byte>) {
    return {data, size, type, memory};
  }

  /// Returns the elements as T, which must match `type`. Nothing is checked.
  template <class T>
  [[nodiscard]] auto* values() const noexcept {
    return reinterpret_cast<std::conditional_t<std::is_const_v<Byte>, const T, T>*>(data);
  }
  /// Returns a view of `count` elements that starts at index `first`. Nothing is checked.
  [[nodiscard]] BasicArrayView part(std::int64_t first, std::int64_t count) const noexcept {
    return {data + first * static_cast<std::ptrdiff_t>(size_of(type)), count, type, memory};
  }
};

/// A read-only view.
using ArrayView = BasicArrayView<const std::byte>;
/// A writable view.
using MutableArrayView = BasicArrayView<std::byte>;

/// An array in the memory of a device (host memory on the CPU). It keeps the device open.
class Array {
 public:
  Array() = default;
  /// Allocates `size` uninitialised elements. Throws Error(usage) for a negative size and Error(environment)
  /// when there is no memory.
  Array(const Device& device, Type type, std::int64_t size);
  /// Copies a host array to the device and waits for the copy.
  Array(const Device& device, ArrayView host);

  /// Returns a writable view of the elements, in the memory where they are.
  [[nodiscard]] MutableArrayView view() noexcept { return {buffer_.get(), size_, type_, memory_}; }
  /// Returns a read-only view of the elements, in the memory where they are.
  [[nodiscard]] ArrayView view() const noexcept { return {buffer_.get(), size_, type_, memory_}; }
  /// Converts by view().
  // NOLINTNEXTLINE(google-explicit-constructor): an array is usable wherever a view is
  operator MutableArrayView() noexcept { return view(); }
  /// Converts by view().
  // NOLINTNEXTLINE(google-explicit-constructor): an array is usable wherever a view is
  operator ArrayView() const noexcept { return view(); }
  /// Number of elements.
  [[nodiscard]] std::int64_t size() const noexcept { return size_; }

  /// Copies the first `host.size` elements to host memory after all work in `stream`, and waits. Throws
  /// Error(usage) if the types differ or `host` is longer than the array.
  void download(MutableArrayView host, Stream stream = {}) const;

 private:
  std::shared_ptr<Backend> backend_;  // before the memory that it frees
  Buffer buffer_;
  std::int64_t size_ = 0;
  Type type_ = Type::u8;
  Memory memory_ = Memory::host;
};

}  // namespace satin

#pragma once
// Calls templates with a type, or a number of channels, that is known only at run time.

#include <cstdint>

#include "satin/view.h"

namespace satin {

/// Calls function.operator()<T>() with the C++ type of `type`. The result has the same type for every T.
template <class Function>
decltype(auto) with_type(Type type, const Function& function) {
  switch (type) {
    case Type::u8:
      return function.template operator()<std::uint8_t>();
    case Type::u16:
      return function.template operator()<std::uint16_t>();
    case Type::u64:
      return function.template operator()<std::uint64_t>();
    case Type::i32:
      return function.template operator()<std::int32_t>();
    case Type::f32:
      return function.template operator()<float>();
    case Type::f64:
      return function.template operator()<double>();
    case Type::u32:
      break;
  }
  return function.template operator()<std::uint32_t>();
}

/// Calls function.operator()<T>() with the type of a pixel: u8, u16 or f32.
template <class Function>
decltype(auto) with_pixel_type(Type type, const Function& function) {
  if (type == Type::u8) return function.template operator()<std::uint8_t>();
  if (type == Type::u16) return function.template operator()<std::uint16_t>();
  return function.template operator()<float>();
}

/// Calls function.operator()<Channels>() for 1 to 4 channels.
template <class Function>
decltype(auto) with_channels(int channels, const Function& function) {
  switch (channels) {
    case 1:
      return function.template operator()<1>();
    case 2:
      return function.template operator()<2>();
    case 3:
      return function.template operator()<3>();
    default:
      return function.template operator()<4>();
  }
}

}  // namespace satin

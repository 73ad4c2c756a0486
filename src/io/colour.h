#pragma once
// Colour management, by Little CMS where it is built in.

#include "io/codec.h"

namespace satin::io {

/// Inks (cyan, magenta, yellow, black) of u8 or u16 samples to sRGB of the same type.
class InkConversion {
 public:
  /// `profile` is the ICC profile of the file, or empty. `reflectance`: the largest value is paper, as Adobe
  /// stores JPEG; otherwise it is full ink.
  InkConversion(Bytes profile, Type type, bool reflectance);
  ~InkConversion();
  InkConversion(const InkConversion&) = delete;
  InkConversion& operator=(const InkConversion&) = delete;

  /// `count` pixels of four samples to three.
  void convert(const std::byte* inks, std::byte* rgb, std::size_t count) const;
  /// Empty if the profile was used, otherwise what was done instead.
  [[nodiscard]] std::string warning() const;

 private:
  template <class Value>
  void convert_plainly(const Value* inks, Value* rgb, std::size_t count) const;

  Type type_;
  bool reflectance_;
  bool has_profile_;
  void* context_ = nullptr;
  void* transform_ = nullptr;
};

}  // namespace satin::io

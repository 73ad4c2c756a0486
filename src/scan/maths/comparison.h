#pragma once
// The comparisons of a predicate, as C++ has them for each type: NaN is not_equal to everything, and nothing
// else.

#include "core/maths/hd.h"

namespace satin {

struct Less {
  template <class T>
  SATIN_HD bool operator()(T value, T number) const {
    return value < number;
  }
};
struct LessEqual {
  template <class T>
  SATIN_HD bool operator()(T value, T number) const {
    return value <= number;
  }
};
struct Greater {
  template <class T>
  SATIN_HD bool operator()(T value, T number) const {
    return value > number;
  }
};
struct GreaterEqual {
  template <class T>
  SATIN_HD bool operator()(T value, T number) const {
    return value >= number;
  }
};
struct Equal {
  template <class T>
  SATIN_HD bool operator()(T value, T number) const {
    return value == number;
  }
};
struct NotEqual {
  template <class T>
  SATIN_HD bool operator()(T value, T number) const {
    return value != number;
  }
};

}  // namespace satin

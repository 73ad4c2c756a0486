#pragma once
// What every function of satin/scan.h refuses before a backend sees it. All of these throw Error(usage).

#include <initializer_list>
#include <string>
#include <vector>

#include "scan/scan.h"

namespace satin {

/// The arrays of one call, by the names that its declaration gives them.
class Arrays {
 public:
  Arrays(const Device& device, const char* function);

  /// Refuses an array with a negative size, without data, not aligned, or in memory of another device.
  void input(const char* name, const ArrayView& view);
  /// Refuses as well one that overlaps an array named before, unless it is the array `in_place` itself.
  void result(const char* name, const MutableArrayView& view, const std::string& in_place = {});

  /// The following refuse the array named last.
  void require_type(std::initializer_list<Type> types) const;
  void require_type_of(const char* other) const;
  void require_size_of(const char* other) const;
  void require_size(std::int64_t size, const std::string& why) const;
  /// Requires the type in which values of the array `values` are summed, or combined by another operator.
  void require_sum_of(const char* values, Operator op) const;

  [[noreturn]] void refuse(const std::string& what) const;

 private:
  struct Named {
    std::string name;
    ArrayView view;
  };
  [[nodiscard]] const ArrayView& find(const std::string& name) const;
  void note(const char* name, const ArrayView& view);

  const Device& device_;
  std::string function_;
  std::vector<Named> arrays_;
};

/// Throws Error(usage) unless the number fits the type.
void require_fit(const Arrays& arrays, const Scalar& number, Type type);

/// Refuses u32 for indices that need more.
void require_index_type(const Arrays& arrays, const ArrayView& indices);

/// "u32 or u64"
[[nodiscard]] std::string list_of(std::initializer_list<Type> types);

}  // namespace satin

#pragma once
// Operations of libvips: a class for each filter, whose arguments are the parameters and the side inputs of
// the filter's record.

#include <vips/vips.h>

#include <cstddef>
#include <string>
#include <vector>

#include "hosts/host.h"

namespace satin::vips {

/// Value of an argument. libvips reads and writes it by the type of the property.
union Value {
  double number;
  int whole;  ///< a whole number, a flag or an index into the choices
  char* text;
  VipsImage* image;
};

/// An optional argument of an operation.
struct Argument {
  std::string name;               ///< name of the property, as the command's option
  std::string help;               ///< one line, with range and default
  host::Parameter parameter{};    ///< without a record for a side input
  bool continues_radius = false;  ///< whether it is the radius along y, behind the argument for both axes
};

/// A filter as libvips sees it.
struct OperationRecord {
  explicit OperationRecord(const FilterRecord& record);

  const FilterRecord* filter;
  std::string nickname;             ///< such as "satin_edge_smooth"
  std::vector<Argument> arguments;  ///< parameters, then all side inputs
};

/// An instance. The values of the arguments follow it in memory.
struct Operation {
  VipsOperation parent;
  VipsImage* in;
  VipsImage* out;
};

/// Size of an instance without its values.
inline constexpr std::size_t offset_of_values =
    (sizeof(Operation) + alignof(Value) - 1) / alignof(Value) * alignof(Value);

struct OperationClass {
  VipsOperationClass parent;
  const OperationRecord* record;
};

/// Makes the output of an operation: VipsObjectClass::build. Returns -1 with libvips's error set if it fails.
int build(VipsObject* object) noexcept;

}  // namespace satin::vips

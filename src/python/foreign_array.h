#pragma once
// Arrays that Python owns: the buffer protocol, DLPack, and __cuda_array_interface__.

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "satin/device.h"
#include "satin/image.h"

namespace satin::python {

/// The memory of an array, which is kept alive. Needs Python's lock to be made, copied and destroyed.
struct ForeignArray {
  std::byte* data = nullptr;
  std::vector<std::int64_t> sizes;
  std::vector<std::ptrdiff_t> strides;  ///< in bytes, of any sign
  Type type = Type::u8;
  bool boolean = false;  ///< u8 that are 0 or 1
  bool read_only = false;
  Memory memory = Memory::host;
  int ordinal = 0;  ///< of the CUDA device, in device memory
  nanobind::object keeper;
};

/// Looks at `object`, called `name` in messages, without copying. `stream` is the CUDA stream on which it is
/// going to be used, which DLPack tells the owner. Throws TypeError for what is no array, ValueError for
/// element types and alignments that Satin does not have.
[[nodiscard]] ForeignArray foreign_array(nanobind::handle object, const std::string& name,
                                         std::uintptr_t stream);

/// "(480, 640, 3)"
[[nodiscard]] std::string describe_sizes(const ForeignArray& array);

/// Throws ValueError unless an open device can work on this memory.
void require_reachable(const Device& device, Memory memory, int ordinal, const std::string& name);

}  // namespace satin::python

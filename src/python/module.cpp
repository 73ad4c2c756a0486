#include "python/module.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <exception>
#include <memory>
#include <utility>

#include "satin/plan.h"
#include "satin/version.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace satin::python {
namespace {

void translate(const std::exception_ptr& pointer, void* /*unused*/) {
  try {
    std::rethrow_exception(pointer);
  } catch (const Error& error) {
    set_error(error.kind() == ErrorKind::environment ? "DeviceError" : "InvalidArgumentError", error);
  }
}

nb::dict describe(const DeviceInfo& info) {
  nb::dict result;
  result["id"] = info.id;
  result["name"] = info.name;
  result["memory"] = info.memory;
  result["usable"] = info.usable;
  result["reason"] = info.reason;
  result["simd"] = info.simd;
  return result;
}

nb::list describe_devices() {
  nb::list result;
  for (const DeviceInfo& info : released([] { return devices(); })) result.append(describe(info));
  return result;
}

void open_device(Device* self, const std::string& spec, int threads) {
  const nb::gil_scoped_release released;
  new (self) Device(Device::open(spec, {.threads = threads}));
}

void bind_devices(nb::module_& module) {
  module.def("devices", &describe_devices,
             "Every device of this machine, the CPU first, as dictionaries: id (what Device() takes), name, "
             "memory in\n"
             "bytes, usable, and the reason where it is not. Never fails for a missing GPU.");
  nb::class_<Device>(
      module, "Device",
      "An open device: 'cpu', 'cuda:N', or 'auto' for the first usable GPU, otherwise the CPU.\n\n"
      "threads bounds the threads of the CPU; 0 takes all that the process may use. One device may be\n"
      "used by several threads at once. Raises RuntimeError with the reason if there is no such device.")
      .def("__init__", &open_device, "spec"_a = "auto", "threads"_a = 0)
      .def_prop_ro(
          "id", [](const Device& device) { return device.info().id; }, "'cpu' or 'cuda:0'.")
      .def_prop_ro(
          "name", [](const Device& device) { return device.info().name; }, "What it is called.")
      .def_prop_ro(
          "memory", [](const Device& device) { return device.info().memory; }, "Bytes in all.")
      .def(
          "limit_memory", [](const Device& device, std::size_t bytes) { limit_memory(device, bytes); },
          "bytes"_a,
          "Lets every plan that is made on the device from now on hold at most so many bytes; 0: as many as "
          "there\n"
          "are. Filters of finite reach are then run on parts of the picture, to the same bytes.")
      .def(
          "synchronize",
          [](const Device& device, std::uintptr_t stream) {
            const nb::gil_scoped_release released;
            device.synchronize(stream_of(stream));
          },
          "stream"_a = 0, "Waits for everything that was given to the stream; 0 is the device's own.")
      .def("__repr__", [](const Device& device) {
        return "<satin.Device " + device.info().id + ": " + device.info().name + ">";
      });
}

nb::dlpack::dtype dtype_of(Type type) {
  const auto bits = static_cast<std::uint8_t>(8 * size_of(type));
  const auto code = type == Type::f32 || type == Type::f64 ? nb::dlpack::dtype_code::Float
                    : type == Type::i32                    ? nb::dlpack::dtype_code::Int
                                                           : nb::dlpack::dtype_code::UInt;
  return {static_cast<std::uint8_t>(code), bits, 1};
}

}  // namespace

void set_error(const char* name, const Error& error) {
  PyErr_SetString(nb::module_::import_("satin._errors").attr(name).ptr(), error.what());
}

const char* numpy_name(Type type) noexcept {
  static const char* const names[] = {"uint8", "uint16", "uint32", "uint64", "int32", "float32", "float64"};
  return names[static_cast<std::size_t>(type)];
}

nb::object array_of(Image&& image, int ordinal) {
  const Shape shape = image.shape();
  const bool host = image.memory() == Memory::host;
  auto kept = std::make_unique<Image>(std::move(image));
  std::byte* data = kept->data();
  const nb::capsule owner(kept.get(), [](void* pointer) noexcept { delete static_cast<Image*>(pointer); });
  static_cast<void>(kept.release());  // the capsule's now
  const std::size_t sizes[] = {static_cast<std::size_t>(shape.height), static_cast<std::size_t>(shape.width),
                               static_cast<std::size_t>(shape.channels)};
  const std::size_t dimensions = shape.channels == 1 ? 2 : 3;
  if (host)
    return nb::cast(nb::ndarray<nb::numpy>(data, dimensions, sizes, owner, nullptr, dtype_of(shape.type)));
  return nb::cast(nb::ndarray<>(data, dimensions, sizes, owner, nullptr, dtype_of(shape.type),
                                nb::device::cuda::value, ordinal));
}

}  // namespace satin::python

NB_MODULE(_native, module) {
  nb::register_exception_translator(&satin::python::translate);
  module.doc() = "The native half of satin; use the package.";
  module.attr("version") = satin::version();
  satin::python::bind_devices(module);
  satin::python::bind_filters(module);
#ifdef SATIN_PYTHON_FILES
  satin::python::bind_files(module);
  satin::python::bind_batch(module);
#endif
  satin::python::bind_regions(module);
  satin::python::bind_run_lengths(module);
  satin::python::bind_scan(module);
  satin::python::bind_statistics(module);
}

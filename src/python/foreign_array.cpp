#include "python/foreign_array.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <string_view>
#include <utility>

#include "satin/error.h"

namespace nb = nanobind;

namespace satin::python {
namespace {

constexpr int legacy_stream = 1;  // the default stream, as DLPack and CUDA number it

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorKind::usage, message); }

[[noreturn]] void refuse_type(const std::string& name, const std::string& type) {
  refuse(name + " has elements of type " + type +
         ": uint8, uint16 and float32 are possible (arrays: uint32, uint64, int32 and float64 too). Convert "
         "it, as by " +
         name + ".astype('float32').");
}

struct ElementType {
  char kind;  ///< as NumPy abbreviates it: u, i, f or b
  std::int64_t size;
  Type type;
};

constexpr ElementType element_types[] = {{'b', 1, Type::u8},  {'u', 1, Type::u8},  {'u', 2, Type::u16},
                                         {'u', 4, Type::u32}, {'u', 8, Type::u64}, {'i', 4, Type::i32},
                                         {'f', 4, Type::f32}, {'f', 8, Type::f64}};

std::string name_of_type(char kind, std::int64_t size) {
  const std::string bits = std::to_string(size * 8);
  if (kind == 'u') return "uint" + bits;
  if (kind == 'i') return "int" + bits;
  if (kind == 'f') return "float" + bits;
  if (kind == 'B') return "bfloat" + bits;
  return "'" + std::string(1, kind) + std::to_string(size) + "'";
}

void set_type(ForeignArray& array, const std::string& name, char kind, std::int64_t size) {
  const auto* const found =
      std::find_if(std::begin(element_types), std::end(element_types),
                   [&](const ElementType& element) { return element.kind == kind && element.size == size; });
  if (found == std::end(element_types)) refuse_type(name, name_of_type(kind, size));
  array.type = found->type;
  array.boolean = kind == 'b';
}

bool foreign_order(char mark) {
  constexpr bool little = std::endian::native == std::endian::little;
  return mark == (little ? '>' : '<') || (mark == '!' && little);
}

void require_own_order(const std::string& name, char mark) {
  if (foreign_order(mark))
    refuse(name + " holds numbers in the byte order of other machines: convert it, as by " + name +
           ".astype(" + name + ".dtype.newbyteorder('=')).");
}

void set_packed_strides(ForeignArray& array) {
  auto stride = static_cast<std::ptrdiff_t>(size_of(array.type));
  array.strides.assign(array.sizes.size(), 0);
  for (std::size_t i = array.sizes.size(); i-- > 0;) {
    array.strides[i] = stride;
    stride *= array.sizes[i];
  }
}

void require_aligned(const ForeignArray& array, const std::string& name) {
  const std::size_t size = size_of(array.type);
  bool aligned = reinterpret_cast<std::uintptr_t>(array.data) % size == 0;
  for (std::size_t i = 0; i < array.sizes.size(); ++i)
    aligned = aligned && (array.sizes[i] <= 1 || array.strides[i] % static_cast<std::ptrdiff_t>(size) == 0);
  if (!aligned)
    refuse(name + " has elements that are not aligned to their size: copy it, as by " + name + ".copy().");
}

// --- The buffer protocol: NumPy, memoryview, array.array ---

void set_type_by_format(ForeignArray& array, const std::string& name, const Py_buffer& buffer) {
  std::string_view format = buffer.format == nullptr ? "B" : buffer.format;
  if (format.size() > 1 && std::string_view("@=<>!").find(format.front()) != std::string_view::npos) {
    require_own_order(name, format.front());
    format.remove_prefix(1);
  }
  if (format.size() != 1) refuse_type(name, "'" + std::string(format) + "'");
  const char code = format.front();
  const auto one_of = [&](std::string_view codes) { return codes.find(code) != std::string_view::npos; };
  const char kind = one_of("BHILQN")   ? 'u'
                    : one_of("bhilqn") ? 'i'
                    : one_of("efd")    ? 'f'
                    : code == '?'      ? 'b'
                                       : code;
  set_type(array, name, kind, buffer.itemsize);
}

ForeignArray from_buffer(nb::handle object, const std::string& name) {
  ForeignArray array;
  array.keeper = nb::steal(PyMemoryView_FromObject(object.ptr()));
  if (!array.keeper.is_valid()) throw nb::python_error();
  const Py_buffer& buffer = *PyMemoryView_GET_BUFFER(array.keeper.ptr());
  if (buffer.suboffsets != nullptr) refuse(name + " is an array of pointers: copy it with numpy.array().");
  array.data = static_cast<std::byte*>(buffer.buf);
  array.read_only = buffer.readonly != 0;
  array.sizes.assign(buffer.shape, buffer.shape + buffer.ndim);
  set_type_by_format(array, name, buffer);
  array.strides.assign(buffer.strides, buffer.strides + buffer.ndim);
  return array;
}

// --- __cuda_array_interface__: CuPy, PyTorch, Numba ---

/// Returns the number of the device that holds a CUDA array, or 0 if the array does not say.
int ordinal_of(nb::handle object) {
  if (!nb::hasattr(object, "__dlpack_device__")) return 0;
  return nb::cast<int>(object.attr("__dlpack_device__")()[1]);
}

ForeignArray from_cuda_interface(nb::handle object, const nb::dict& interface, const std::string& name) {
  ForeignArray array;
  array.memory = Memory::device;
  array.ordinal = ordinal_of(object);
  array.keeper = nb::borrow(object);
  const auto type = nb::cast<std::string>(interface["typestr"]);
  if (type.size() < 3) refuse_type(name, "'" + type + "'");
  require_own_order(name, type[0]);
  set_type(array, name, type[1], std::stoll(type.substr(2)));
  for (const nb::handle size : nb::borrow<nb::tuple>(interface["shape"]))
    array.sizes.push_back(nb::cast<std::int64_t>(size));
  set_packed_strides(array);
  if (interface.contains("strides") && !interface["strides"].is_none()) {
    array.strides.clear();
    for (const nb::handle stride : nb::borrow<nb::tuple>(interface["strides"]))
      array.strides.push_back(nb::cast<std::ptrdiff_t>(stride));
  }
  const auto place = nb::borrow<nb::tuple>(interface["data"]);
  array.data = reinterpret_cast<std::byte*>(nb::cast<std::uintptr_t>(place[0]));
  array.read_only = nb::cast<bool>(place[1]);
  return array;
}

// --- DLPack: other libraries ---

enum DeviceKind { cpu = 1, cuda = 2, cuda_host = 3, cuda_managed = 13 };

/// Owners refuse arrays without plain memory, such as gradients, with BufferError, older ones with
/// RuntimeError.
[[noreturn]] void refuse_as_owner(nb::python_error& error, const std::string& name) {
  if (!error.matches(PyExc_BufferError) && !error.matches(PyExc_RuntimeError)) throw error;
  refuse(name + ": " + nb::cast<std::string>(nb::str(error.value())));
}

nb::object call_dlpack(nb::handle object, const nb::dict& options, const std::string& name) {
  try {
    return object.attr("__dlpack__")(**options);
  } catch (nb::python_error& error) {
    refuse_as_owner(error, name);
  }
}

nb::object dlpack_capsule(nb::handle object, const std::string& name, bool on_cuda, std::uintptr_t stream) {
  nb::dict options;
  if (on_cuda) options["stream"] = stream == 0 ? legacy_stream : stream;
  nb::dict versioned;
  versioned.update(options);
  versioned["max_version"] = nb::make_tuple(1, 0);
  try {
    return call_dlpack(object, versioned, name);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;  // TypeError: older than versions
  }
  return call_dlpack(object, options, name);
}

/// Kinds of elements by their code in DLPack: integers, unsigned ones, floats, handles, bfloat, complex,
/// booleans.
constexpr std::string_view kinds = "iuf?B?b";

ForeignArray from_tensor(const nb::ndarray<nb::ro>& tensor, const std::string& name) {
  ForeignArray array;
  const nb::dlpack::dtype type = tensor.dtype();
  set_type(array, name, type.code < kinds.size() ? kinds[type.code] : '?',
           type.lanes == 1 ? type.bits / 8 : 0);
  array.data = static_cast<std::byte*>(const_cast<void*>(tensor.data()));
  for (std::size_t i = 0; i < tensor.ndim(); ++i) {
    array.sizes.push_back(static_cast<std::int64_t>(tensor.shape(i)));
    array.strides.push_back(static_cast<std::ptrdiff_t>(tensor.stride(i)) *
                            static_cast<std::ptrdiff_t>(size_of(array.type)));
  }
  array.keeper = nb::capsule(new nb::ndarray<nb::ro>(tensor), [](void* pointer) noexcept {
    delete static_cast<nb::ndarray<nb::ro>*>(pointer);
  });
  return array;
}

ForeignArray from_dlpack(nb::handle object, const std::string& name, std::uintptr_t stream) {
  const nb::object place = object.attr("__dlpack_device__")();
  const int kind = nb::cast<int>(place[0]);
  const bool on_cuda = kind == cuda || kind == cuda_managed;
  if (!on_cuda && kind != cpu && kind != cuda_host)
    refuse(name + " lies on a device that is neither the CPU nor a CUDA one: copy it to the CPU first.");
  const nb::object capsule = dlpack_capsule(object, name, on_cuda, stream);
  nb::ndarray<> writable;
  ForeignArray array;
  if (nb::try_cast(capsule, writable)) {
    array = from_tensor(nb::ndarray<nb::ro>(writable), name);
  } else {
    array = from_tensor(nb::cast<nb::ndarray<nb::ro>>(capsule), name);
    array.read_only = true;
  }
  array.memory = on_cuda ? Memory::device : Memory::host;
  array.ordinal = on_cuda ? nb::cast<int>(place[1]) : 0;
  return array;
}

ForeignArray any_array(nb::handle object, const std::string& name, std::uintptr_t stream) {
  if (PyObject_CheckBuffer(object.ptr())) return from_buffer(object, name);
  if (nb::hasattr(object, "__cuda_array_interface__"))
    return from_cuda_interface(object, nb::cast<nb::dict>(object.attr("__cuda_array_interface__")), name);
  if (nb::hasattr(object, "__dlpack_device__")) return from_dlpack(object, name, stream);
  const std::string type = nb::cast<std::string>(nb::str(object.type().attr("__name__")));
  throw nb::type_error(
      (name + " is of type " + type +
       ", which is no array: NumPy, and what has DLPack, __cuda_array_interface__ or the buffer "
       "protocol, is; numpy.asarray() makes one of a list or a PIL image.")
          .c_str());
}

std::string axes_by_dimensions(const Picture& picture) {
  static const char* const known[] = {"HW", "HWC", "NHWC"};
  const std::size_t dimensions = picture.array.sizes.size();
  if (dimensions < 2 || dimensions > 4)
    refuse(picture.name + " has the shape " + describe_sizes(picture.array) +
           ": (height, width), (height, width, channels) or (frames, height, width, channels) is expected.");
  return known[dimensions - 2];
}

void require_axes(const Picture& picture) {
  const std::string& axes = picture.axes;
  const auto times = [&](char axis) { return std::count(axes.begin(), axes.end(), axis); };
  const bool valid = times('H') == 1 && times('W') == 1 && times('N') <= 1 && times('C') <= 1 &&
                     axes.find_first_not_of("NHWC") == std::string::npos;
  if (!valid)
    refuse("layout '" + axes + "': H and W, with N and C where there are frames and channels, each once.");
  if (axes.size() != picture.array.sizes.size())
    refuse(picture.name + " has the shape " + describe_sizes(picture.array) + ", which the layout '" + axes +
           "' does not fit.");
}

struct Axis {
  std::int64_t size;
  std::ptrdiff_t stride;
};

/// Returns the axis, or one of size 1. The stride of a size of 1 is never used; it is `packed`, which plans
/// recognise.
Axis axis(const Picture& picture, char letter, std::ptrdiff_t packed) {
  const std::size_t at = picture.axes.find(letter);
  if (at == std::string::npos || picture.array.sizes[at] == 1) return {1, packed};
  return {picture.array.sizes[at], picture.array.strides[at]};
}

MutableImageView view_of_axes(const Picture& picture, Alpha alpha, Order order) {
  MutableImageView view{picture.array.data, {}, {}, picture.array.memory};
  const Axis channels = axis(picture, 'C', static_cast<std::ptrdiff_t>(size_of(picture.array.type)));
  if (channels.size > 4)
    refuse(
        picture.name + " has the shape " + describe_sizes(picture.array) + ", read as " + picture.axes +
        ": " + std::to_string(channels.size) +
        " channels, but 1 to 4 are possible. Say layout='CHW' where channels come first, 'NHW' for frames.");
  view.shape.channels = static_cast<int>(channels.size);
  view.shape.type = picture.array.type;
  view.strides = interleaved_strides(view.shape);
  const Axis columns = axis(picture, 'W', view.strides.pixel);
  view.shape.width = columns.size;
  const Axis rows = axis(picture, 'H', view.strides.pixel * columns.size);
  view.shape.height = rows.size;
  const Axis frames = axis(picture, 'N', view.strides.pixel * columns.size * rows.size);
  view.shape.frames = frames.size;
  view.strides = {columns.stride, rows.stride, channels.stride, frames.stride};
  view.shape.alpha = alpha;
  view.shape.order = order;
  return view;
}

}  // namespace

ForeignArray foreign_array(nb::handle object, const std::string& name, std::uintptr_t stream) {
  ForeignArray array = any_array(object, name, stream);
  require_aligned(array, name);
  return array;
}

std::string describe_sizes(const ForeignArray& array) {
  std::string text;
  for (const std::int64_t size : array.sizes) text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "(" + text + (array.sizes.size() == 1 ? ",)" : ")");
}

void require_reachable(const Device& device, Memory memory, int ordinal, const std::string& name) {
  if (memory == Memory::host) return;
  const std::string place = "cuda:" + std::to_string(ordinal);
  if (device.info().id != place)
    refuse(name + " lies on " + place + ", which the device " + device.info().id +
           " does not reach: copy it, or choose the device " + place + ".");
}

Picture::Picture(nanobind::handle object, std::string name_in_messages,
                 const std::optional<std::string>& told, Alpha alpha, Order order, bool booleans,
                 std::uintptr_t stream)
    : name(std::move(name_in_messages)), array(foreign_array(object, name, stream)) {
  if (array.boolean && !booleans)
    refuse(name + " holds booleans: pass " + name + ".astype('uint8') * 255, white where they are true.");
  axes = told ? *told : axes_by_dimensions(*this);
  require_axes(*this);
  if (std::find(array.sizes.begin(), array.sizes.end(), 0) != array.sizes.end())
    refuse(name + " has the shape " + describe_sizes(array) + ": there is no pixel in it.");
  view = view_of_axes(*this, alpha, order);
}

const MutableImageView& host_view(const Picture& picture) {
  if (picture.array.memory != Memory::host)
    refuse(picture.name + " lies in device memory: copy it to the CPU first.");
  return picture.view;
}

std::string result_axes(const std::string& axes, int channels, const Shape& shape) {
  std::string result = axes;
  if (shape.channels == 1 && channels > 1) std::erase(result, 'C');
  return result;
}

std::vector<std::int64_t> sizes_of(const Shape& shape, const std::string& axes) {
  std::vector<std::int64_t> sizes;
  for (const char letter : axes)
    sizes.push_back(letter == 'N'   ? shape.frames
                    : letter == 'H' ? shape.height
                    : letter == 'W' ? shape.width
                                    : shape.channels);
  return sizes;
}

}  // namespace satin::python

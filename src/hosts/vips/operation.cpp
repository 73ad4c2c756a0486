// The work of an operation: it reads its arguments, shows libvips's images to a filter as views, and makes
// the output.
//
// A filter of finite reach makes its output in bands of rows, when libvips asks for them (BandFilter). Any
// other filter reads the whole picture and runs at once.

#include "hosts/vips/operation.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace satin::vips {
namespace {

/// Thrown where libvips has described the error already.
struct VipsFailure {};

/// Throws VipsFailure if a function of libvips has failed.
void check(int failed) {
  if (failed != 0) throw VipsFailure();
}

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::usage, what); }

/// Throws Error(usage) with the sentence of a Runner, unless it is empty.
void check(const std::string& sentence) {
  if (!sentence.empty()) refuse(sentence);
}

/// Runs `work` for libvips. Returns 0, or -1 with libvips's error set.
template <class Work>
int guarded(const OperationRecord& operation, const Work& work) noexcept {
  try {
    const std::string sentence = host::sentence_of(work);
    if (sentence.empty()) return 0;
    vips_error(operation.nickname.c_str(), "%s", sentence.c_str());
  } catch (const VipsFailure&) {  // the error is set
  }
  return -1;
}

struct Unreference {
  void operator()(gpointer object) const { g_object_unref(object); }
};
using OwnedImage = std::unique_ptr<VipsImage, Unreference>;

// --- Pixels ---

const char* name_of_format(const VipsImage& image) {
  return vips_enum_nick(VIPS_TYPE_BAND_FORMAT, image.BandFmt);
}

/// Returns the type of the pixels. Throws Error(usage) for a format that filters do not read.
Type type_of(const VipsImage& image, const std::string& name) {
  switch (image.BandFmt) {
    case VIPS_FORMAT_UCHAR:
      return Type::u8;
    case VIPS_FORMAT_USHORT:
      return Type::u16;
    case VIPS_FORMAT_FLOAT:
      return Type::f32;
    default:
      refuse("The image '" + name + "' has pixels of format " + name_of_format(image) +
             ". Convert it by cast to uchar, ushort or float.");
  }
}

VipsBandFormat format_of(Type type) {
  if (type == Type::f32) return VIPS_FORMAT_FLOAT;
  return type == Type::u8 ? VIPS_FORMAT_UCHAR : VIPS_FORMAT_USHORT;
}

/// Whether a colour space and a type mean what filters take them for: integers from black to the largest
/// white, by the tone curve of sRGB, and floats in proportion to light.
bool has_meaning(VipsInterpretation space, Type type) {
  switch (space) {
    case VIPS_INTERPRETATION_MULTIBAND:
    case VIPS_INTERPRETATION_B_W:
    case VIPS_INTERPRETATION_RGB:
      return true;
    case VIPS_INTERPRETATION_sRGB:
      return type == Type::u8;
    case VIPS_INTERPRETATION_GREY16:
    case VIPS_INTERPRETATION_RGB16:
      return type == Type::u16;
    case VIPS_INTERPRETATION_scRGB:
      return type == Type::f32;
    default:
      return false;
  }
}

/// Throws Error(usage) for a picture whose numbers have no meaning for filters.
void check_colours(const VipsImage& image, Type type) {
  if (has_meaning(image.Type, type)) return;
  const char* const wanted = type == Type::u8 ? "srgb" : type == Type::u16 ? "rgb16" : "scrgb";
  refuse(std::string("Filters do not know the colour space ") +
         vips_enum_nick(VIPS_TYPE_INTERPRETATION, image.Type) + " with pixels of format " +
         name_of_format(image) + ". Convert the picture by colourspace to " + wanted +
         ", or declare its bands to be plain numbers by copy with interpretation multiband.");
}

Shape shape_of(VipsImage* image, Type type) {
  Shape shape{image->Xsize, image->Ysize, image->Bands, type};
  const bool may_have_alpha = image->Bands == 2 || image->Bands == 4;
  if (may_have_alpha && vips_image_hasalpha(image) != FALSE) shape.alpha = Alpha::straight;
  return shape;
}

/// Removes what may still show the hidden parts of a picture: all metadata but its colours and its geometry.
void remove_metadata(VipsImage* image) {
  static constexpr std::array<std::string_view, 7> kept = {
      "icc-profile-data", "orientation", "resolution-unit", "n-pages", "page-height", "delay", "loop"};
  gchar** const fields = vips_image_get_fields(image);
  for (gchar** field = fields; *field != nullptr; ++field)
    if (std::ranges::find(kept, *field) == kept.end())
      vips_image_remove(image, *field);  // built-in ones stay
  g_strfreev(fields);
}

// --- Arguments ---

Value* values_of(VipsObject* object) {
  return reinterpret_cast<Value*>(reinterpret_cast<std::byte*>(object) + offset_of_values);
}

bool is_set(VipsObject* object, const Argument& argument) {
  return vips_object_argument_isset(object, argument.name.c_str()) != FALSE;
}

std::string text_of(const host::Parameter& parameter, const Value& value) {
  if (parameter.control == host::Control::text) return value.text == nullptr ? "" : value.text;
  return host::text_of(parameter, parameter.control == host::Control::number ? value.number : value.whole);
}

/// Sets the parameters of the filter. Throws Error(usage) for those that it refuses.
void set_parameters(VipsObject* object, const OperationRecord& operation, host::Runner& runner) {
  const std::vector<Argument>& arguments = operation.arguments;
  const Value* const values = values_of(object);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const host::Parameter& parameter = arguments[i].parameter;
    if (parameter.record == nullptr || arguments[i].continues_radius) continue;
    std::string text = is_set(object, arguments[i]) ? text_of(parameter, values[i]) : "";
    const bool is_radius = parameter.record->kind == ParameterKind::radius;
    if (is_radius && is_set(object, arguments[i + 1])) {
      if (text.empty()) text = parameter.record->default_text;
      text += "x" + text_of(parameter, values[i + 1]);
    }
    check(runner.set(parameter.record->name, text));
  }
}

/// The images of an operation.
struct Inputs {
  std::vector<VipsImage*> images{};    ///< the picture and the side inputs that are set
  std::vector<std::size_t> indices{};  ///< index of each among the inputs of the filter
  std::vector<Shape> shapes{};         ///< shapes of all inputs of the filter; width 0 for those not set

  /// Adds an image, decoded to pixels. Throws as type_of().
  void add(VipsObject* object, VipsImage* image, std::size_t index, const std::string& name) {
    VipsImage* decoded = nullptr;
    check(vips_image_decode(image, &decoded));
    vips_object_local(object, decoded);  // the operation keeps it as long as its output
    images.push_back(decoded);
    indices.push_back(index);
    shapes[index] = shape_of(decoded, type_of(*decoded, name));
  }
};

Inputs inputs_of(VipsObject* object, const OperationRecord& operation) {
  const std::vector<Argument>& arguments = operation.arguments;
  const std::size_t sides = operation.filter->inputs.size();
  Inputs inputs;
  inputs.shapes.assign(1 + sides, Shape{0, 0});
  inputs.add(object, reinterpret_cast<Operation*>(object)->in, 0, "in");
  check_colours(*inputs.images[0], inputs.shapes[0].type);
  for (std::size_t i = arguments.size() - sides, index = 1; i < arguments.size(); ++i, ++index)
    if (is_set(object, arguments[i]))
      inputs.add(object, values_of(object)[i].image, index, arguments[i].name);
  return inputs;
}

// --- Output ---

/// Describes the output: the metadata of the inputs, and the shape of the result.
void describe(VipsImage* output, const OperationRecord& operation, const Inputs& inputs, const Shape& shape) {
  std::vector<VipsImage*> images = inputs.images;
  images.push_back(nullptr);
  check(vips_image_pipeline_array(output, VIPS_DEMAND_STYLE_FATSTRIP, images.data()));
  if (shape.channels < output->Bands || format_of(shape.type) != output->BandFmt)
    output->Type = shape.type == Type::u16 ? VIPS_INTERPRETATION_GREY16 : VIPS_INTERPRETATION_B_W;
  output->Xsize = static_cast<int>(shape.width);
  output->Ysize = static_cast<int>(shape.height);
  output->Bands = shape.channels;
  output->BandFmt = format_of(shape.type);
  if (operation.filter->traits.covers) remove_metadata(output);
}

/// Returns the rows of a band for this reach: its window is then at most twice as high.
std::int64_t rows_of_band(std::int64_t reach) { return std::max<std::int64_t>(128, 2 * reach); }

/// A filter of finite reach that computes rows of its result when libvips asks for them.
///
/// A band of rows is computed from a window that is higher by the reach on either side. All windows have one
/// height, so that one plan serves all.
class BandFilter {
 public:
  BandFilter(const OperationRecord& operation, const Parameters& parameters, Inputs inputs,
             const Shape& output, std::int64_t reach)
      : operation_(operation),
        parameters_(parameters),
        inputs_(std::move(inputs)),
        output_(output),
        reach_(reach),
        rows_(rows_of_band(reach)),
        window_rows_(rows_ + 2 * reach) {
    inputs_.images.push_back(nullptr);  // libvips wants an end
  }

  /// Returns an image whose pixels are computed when they are read. It owns the filter, and refers to the
  /// inputs, which the operation keeps.
  static OwnedImage image_of(std::unique_ptr<BandFilter> filter) {
    OwnedImage bands(vips_image_new());
    BandFilter& self = *filter;
    describe(bands.get(), self.operation_, self.inputs_, self.output_);
    g_object_set_data_full(G_OBJECT(bands.get()), "satin-bands", filter.release(),
                           [](gpointer owned) { delete static_cast<BandFilter*>(owned); });
    check(vips_image_generate(bands.get(), start, generate, stop, self.inputs_.images.data(), &self));
    // libvips asks for a few rows at a time, which share a band of the cache.
    VipsImage* cached = nullptr;
    check(vips_tilecache(bands.get(), &cached, "tile_width", bands->Xsize, "tile_height",
                         static_cast<int>(self.rows_), "max_tiles", self.cached_bands(), "access",
                         VIPS_ACCESS_SEQUENTIAL, "threaded", TRUE, nullptr));
    const OwnedImage owned(cached);
    OwnedImage output(vips_image_new());
    check(vips_image_write(cached, output.get()));
    return output;
  }

 private:
  /// Memory that is held while pixels are read. libvips keeps operations for long after that.
  struct Work {
    Plan plan;
    Image result;  ///< result of the last window
  };

  /// Returns the number of bands to keep. Inputs that can be read at will keep more of them, because
  /// operations such as rot90 read columns: of 12 megapixels at sigma 60 that took 8.5 s of CPU with four
  /// bands, and 0.4 s with all of them.
  [[nodiscard]] int cached_bands() const {
    constexpr std::int64_t least = 4, bytes_at_will = std::int64_t{64} << 20;
    if (vips_image_is_sequential(inputs_.images[0]) != FALSE) return least;
    const auto bytes = static_cast<std::int64_t>(byte_size(with_rows(output_, rows_)));
    return static_cast<int>(std::max(least, bytes_at_will / bytes));
  }

  static Shape with_rows(Shape shape, std::int64_t rows) {
    if (shape.width != 0) shape.height = rows;
    return shape;
  }

  /// Called by each thread of libvips before it reads pixels. Returns its regions of the inputs.
  static void* start(VipsImage* out, void* images, void* filter) {
    auto& self = *static_cast<BandFilter*>(filter);
    const std::lock_guard lock(self.working_);
    ++self.threads_;
    return vips_start_many(out, images, nullptr);
  }

  static int generate(VipsRegion* out, void* regions, void* /*images*/, void* filter, gboolean* /*stop*/) {
    auto& self = *static_cast<BandFilter*>(filter);
    return guarded(self.operation_, [&] { self.fill(out, static_cast<VipsRegion**>(regions)); });
  }

  static int stop(void* regions, void* /*images*/, void* filter) {
    auto& self = *static_cast<BandFilter*>(filter);
    const std::lock_guard lock(self.working_);
    if (--self.threads_ == 0) self.work_.reset();
    return vips_stop_many(regions, nullptr, nullptr);
  }

  /// Computes a region of the result, which is a band of the cache. The plan is for one thread at a time, and
  /// uses all threads of the device.
  void fill(VipsRegion* out, VipsRegion** regions) {
    const VipsRect& wanted = out->valid;
    const std::int64_t top = std::clamp<std::int64_t>(wanted.top - reach_, 0, output_.height - window_rows_);
    const VipsRect window{0, static_cast<int>(top), static_cast<int>(output_.width),
                          static_cast<int>(window_rows_)};
    std::vector<ImageView> views(inputs_.shapes.size());
    for (std::size_t i = 0; i < inputs_.indices.size(); ++i) {
      VipsRegion* const region = regions[i];
      check(vips_region_prepare(region, &window));
      const auto* const pixels = reinterpret_cast<const std::byte*>(VIPS_REGION_ADDR(region, 0, window.top));
      views[inputs_.indices[i]] =
          host::rows_of(pixels, with_rows(inputs_.shapes[inputs_.indices[i]], window_rows_),
                        static_cast<std::ptrdiff_t>(VIPS_REGION_LSKIP(region)));
    }
    const std::lock_guard lock(working_);
    const ImageView result = filtered(views);
    for (int row = 0; row < wanted.height; ++row)
      std::memcpy(VIPS_REGION_ADDR(out, wanted.left, wanted.top + row),
                  result.at(wanted.left, wanted.top + row - top), VIPS_REGION_SIZEOF_LINE(out));
  }

  ImageView filtered(std::span<const ImageView> window) {
    if (!work_) {
      std::vector<Shape> shapes;
      for (const Shape& shape : inputs_.shapes) shapes.push_back(with_rows(shape, window_rows_));
      work_.emplace(Work{plan(host::device(), parameters_, shapes), Image(with_rows(output_, window_rows_))});
    }
    work_->plan.run(window, work_->result.view());
    return work_->result.view();
  }

  const OperationRecord& operation_;
  Parameters parameters_;
  Inputs inputs_;
  Shape output_;
  std::int64_t reach_;
  std::int64_t rows_;         ///< rows of a band
  std::int64_t window_rows_;  ///< rows that are filtered for a band
  std::mutex working_;
  int threads_ = 0;  ///< threads that read pixels
  std::optional<Work> work_;
};

/// Runs a filter on whole pictures. Returns an image in memory.
OwnedImage filter_whole(const OperationRecord& operation, host::Runner& runner, const Inputs& inputs,
                        const Shape& output) {
  std::vector<OwnedImage> in_memory;
  std::vector<ImageView> views(inputs.shapes.size());
  for (std::size_t i = 0; i < inputs.indices.size(); ++i) {
    in_memory.emplace_back(vips_image_copy_memory(inputs.images[i]));
    if (!in_memory.back()) throw VipsFailure();
    views[inputs.indices[i]] =
        view_of(VIPS_IMAGE_ADDR(in_memory.back().get(), 0, 0), inputs.shapes[inputs.indices[i]]);
  }
  OwnedImage result(vips_image_new_memory());
  describe(result.get(), operation, inputs, output);
  check(vips_image_write_prepare(result.get()));
  check(runner.run(views, mutable_view_of(VIPS_IMAGE_ADDR(result.get(), 0, 0), output)));
  return result;
}

/// Returns the reach along y if the filter can run in bands that are lower than the picture.
std::optional<std::int64_t> reach_of_bands(const host::Runner& runner, const Inputs& inputs) {
  const Shape& picture = inputs.shapes[0];
  const std::optional<LocalReach> reach = runner.reach_of_chunks(inputs.shapes);
  if (!reach || rows_of_band(reach->y) + 2 * reach->y >= picture.height) return std::nullopt;
  for (const Shape& side : inputs.shapes)
    if (side.width != 0 && (side.width != picture.width || side.height != picture.height))
      return std::nullopt;
  return reach->y;
}

OwnedImage make_output(VipsObject* object, const OperationRecord& operation) {
  host::Runner runner(*operation.filter, host::device(vips_concurrency_get()));
  set_parameters(object, operation, runner);
  Inputs inputs = inputs_of(object, operation);
  const Shape output = runner.outline(inputs.shapes).output;
  const std::optional<std::int64_t> reach = reach_of_bands(runner, inputs);
  if (!reach) return filter_whole(operation, runner, inputs, output);
  return BandFilter::image_of(
      std::make_unique<BandFilter>(operation, runner.parameters(), std::move(inputs), output, *reach));
}

}  // namespace

int build(VipsObject* object) noexcept {
  const OperationRecord& operation =
      *reinterpret_cast<OperationClass*>(VIPS_OBJECT_GET_CLASS(object))->record;
  // Checks what libvips can check, such as required arguments.
  if (VIPS_OBJECT_CLASS(g_type_class_peek(VIPS_TYPE_OPERATION))->build(object) != 0) return -1;
  return guarded(operation, [&] {
    OwnedImage output = make_output(object, operation);
    g_object_set(object, "out", output.release(), nullptr);
  });
}

}  // namespace satin::vips

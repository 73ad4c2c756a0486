// OpenEXR: float pictures with named channels, of which Z is depth. R, G, B (or Y) and A are the picture, in
// the size of the data window. Every other channel is kept under its name. A file may have several parts,
// each a picture of its own. This is the module satin_io_exr (io/module.h).

#include <OpenEXR/ImfChannelList.h>
#include <OpenEXR/ImfCompression.h>
#include <OpenEXR/ImfFrameBuffer.h>
#include <OpenEXR/ImfHeader.h>
#include <OpenEXR/ImfIO.h>
#include <OpenEXR/ImfInputPart.h>
#include <OpenEXR/ImfMultiPartInputFile.h>
#include <OpenEXR/ImfMultiPartOutputFile.h>
#include <OpenEXR/ImfOutputFile.h>
#include <OpenEXR/ImfOutputPart.h>
#include <OpenEXR/ImfPartType.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "io/codec_steps.h"
#include "io/module.h"
#include "satin/error.h"
#include "satin/version.h"

namespace satin::io {
namespace {

namespace exr = OPENEXR_IMF_NAMESPACE;
using Box = IMATH_NAMESPACE::Box2i;

constexpr const char* format = "OpenEXR";

/// Calls OpenEXR, and turns its exceptions into Error(input).
template <class Work>
decltype(auto) with_exr(const Work& work) {
  try {
    return work();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    not_decoded(format, "OpenEXR", error.what(), "Save it with ZIP compression.");
  }
}

class MemoryInput : public exr::IStream {
 public:
  explicit MemoryInput(Bytes bytes) : IStream("memory"), bytes_(bytes) {}

  bool isMemoryMapped() const override { return false; }
  bool read(char target[], int count) override {
    if (count < 0 || position_ > bytes_.size() || static_cast<std::size_t>(count) > bytes_.size() - position_)
      throw std::runtime_error("the file ends early");
    std::memcpy(target, bytes_.data() + position_, static_cast<std::size_t>(count));
    position_ += static_cast<std::size_t>(count);
    return position_ < bytes_.size();
  }
  std::uint64_t tellg() override { return position_; }
  void seekg(std::uint64_t position) override { position_ = position; }
  void clear() override {}

 private:
  Bytes bytes_;
  std::size_t position_ = 0;
};

class MemoryOutput : public exr::OStream {
 public:
  MemoryOutput() : OStream("memory") {}

  void write(const char data[], int count) override {
    sink.add(std::as_bytes(std::span(data, static_cast<std::size_t>(count))));
  }
  std::uint64_t tellp() override { return sink.position; }
  void seekp(std::uint64_t position) override { sink.position = position; }

  Sink sink;
};

/// A channel of a file.
struct StoredChannel {
  std::string name;
  exr::PixelType type;
  bool subsampled = false;  ///< stored at a lower resolution
  bool is_colour = false;
};
using Channels = std::vector<StoredChannel>;

Channels channels_of(const exr::Header& header) {
  Channels channels;
  const exr::ChannelList& list = header.channels();
  for (auto channel = list.begin(); channel != list.end(); ++channel) {
    const exr::Channel& stored = channel.channel();
    channels.push_back({channel.name(), stored.type, stored.xSampling != 1 || stored.ySampling != 1});
  }
  return channels;
}

StoredChannel* find(Channels& channels, std::string_view name) {
  const auto found = std::ranges::find(channels, name, &StoredChannel::name);
  return found == channels.end() ? nullptr : &*found;
}

std::vector<StoredChannel*> colours_of(Channels& channels) {
  std::vector<StoredChannel*> colours{find(channels, "R"), find(channels, "G"), find(channels, "B")};
  if (std::find(colours.begin(), colours.end(), nullptr) != colours.end()) colours = {find(channels, "Y")};
  if (channels.size() == 1) colours = {channels.data()};  // for example, a picture of depth alone
  if (colours.front() == nullptr) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < std::min<std::size_t>(channels.size(), 8); ++i)
      names.push_back(channels[i].name);
    unsupported(format, "the channels " + one_of(names) + " alone", "Save it with R, G and B, or with Y.");
  }
  if (StoredChannel* alpha = find(channels, "A"); alpha != nullptr && channels.size() > 1)
    colours.push_back(alpha);
  for (StoredChannel* colour : colours) {
    if (colour->subsampled || colour->type == exr::UINT)
      unsupported(format, "integer colours, or colours at a lower resolution", "Save it with R, G and B.");
    colour->is_colour = true;
  }
  if (find(channels, "RY") != nullptr && colours.size() <= 2)
    unsupported(format, "luminance and chroma", "Save it with R, G and B.");
  return colours;
}

PixelBox box_of(const Box& window) {
  return {window.min.x, window.min.y, std::int64_t{window.max.x} - window.min.x + 1,
          std::int64_t{window.max.y} - window.min.y + 1};
}

Box window_of(const PixelBox& box) {
  return {{static_cast<int>(box.x), static_cast<int>(box.y)},
          {static_cast<int>(box.x + box.width - 1), static_cast<int>(box.y + box.height - 1)}};
}

/// Describes memory to OpenEXR, which addresses pixels from (0, 0) wherever the window is.
exr::Slice slice_of(exr::PixelType type, const void* first, std::ptrdiff_t pixel, std::ptrdiff_t row,
                    const PixelBox& window) {
  const auto stride = [](std::ptrdiff_t bytes) { return static_cast<std::uintptr_t>(bytes); };
  const auto address = reinterpret_cast<std::uintptr_t>(first) - stride(window.x) * stride(pixel) -
                       stride(window.y) * stride(row);
  return {type, reinterpret_cast<char*>(address), stride(pixel), stride(row)};
}

exr::Slice slice_of(exr::PixelType type, const ImageView& view, int channel, const PixelBox& window) {
  return slice_of(type, view.at(0, 0, channel), view.strides.pixel, view.strides.row, window);
}

/// Allocates a picture of which rows may be missing.
Image allocate_plane(const PixelBox& data, int channels, Type type, const ReadOptions& options) {
  Image image = allocate(static_cast<std::uint64_t>(data.width), static_cast<std::uint64_t>(data.height),
                         channels, type, channels % 2 == 0 ? Alpha::premultiplied : Alpha::none, options);
  if (options.allow_partial) std::memset(image.data(), 0, byte_size(image.shape()));
  return image;
}

/// Allocates the picture and the planes of a part, and returns where its channels are read to.
exr::FrameBuffer place(const exr::Header& header, const ReadOptions& options, Picture& picture) {
  Channels channels = channels_of(header);
  const PixelBox data = box_of(header.dataWindow());
  const auto width = static_cast<std::uint64_t>(data.width), height = static_cast<std::uint64_t>(data.height);
  const ReadLimits& limits = options.limits;
  check_limits(width, height, 1, Type::f32, limits);
  if (channels.size() > limits.bytes / (width * height * sizeof(float)))
    throw Error(ErrorKind::input, "the picture has " + std::to_string(channels.size()) +
                                      " channels and is over the limit of " + std::to_string(limits.bytes) +
                                      " bytes. Raise it (--max-bytes), or store fewer channels.");
  const std::vector<StoredChannel*> colours = colours_of(channels);
  picture.image = allocate_plane(data, static_cast<int>(colours.size()), Type::f32, options);
  picture.metadata.half_floats = colours.front()->type == exr::HALF;
  picture.metadata.exr = ExrHeader{data,
                                   box_of(header.displayWindow()),
                                   header.pixelAspectRatio(),
                                   header.hasName() ? header.name() : "",
                                   header.hasView() ? header.view() : "",
                                   channels.size() == 1 ? channels.front().name : ""};
  exr::FrameBuffer frame;
  for (int c = 0; c < picture.image.shape().channels; ++c)
    frame.insert(colours[static_cast<std::size_t>(c)]->name,
                 slice_of(exr::FLOAT, std::as_const(picture.image).view(), c, data));
  ReadOptions of_planes = options;
  of_planes.filterable = false;  // integers are read although filters do not accept them
  for (const StoredChannel& channel : channels) {
    if (channel.is_colour) continue;
    if (channel.subsampled) {
      picture.warnings.push_back("the channel " + channel.name + " has a lower resolution and is left out.");
      continue;
    }
    const bool is_integer = channel.type == exr::UINT;
    const NamedChannel& named = picture.channels.emplace_back(
        NamedChannel{channel.name, allocate_plane(data, 1, is_integer ? Type::u32 : Type::f32, of_planes)});
    frame.insert(channel.name, slice_of(is_integer ? exr::UINT : exr::FLOAT, named.plane.view(), 0, data));
  }
  return frame;
}

/// Reads rows one by one and skips damaged ones. Returns true if all could be read.
bool read_intact_rows(exr::InputPart& part, const Box& window) {
  bool complete = true;
  for (int y = window.min.y; y <= window.max.y; ++y) try {
      part.readPixels(y);
    } catch (const std::exception&) {
      complete = false;
    }
  return complete;
}

std::vector<FilePicture> list_parts(Bytes bytes, const ReadOptions& /*options*/) {
  return with_exr([&] {
    MemoryInput input(bytes);
    const exr::MultiPartInputFile file(input, 0);
    std::vector<FilePicture> parts;
    for (int i = 0; i < file.parts(); ++i)
      parts.push_back({file.header(i).hasName() ? file.header(i).name() : "", static_cast<std::uint64_t>(i)});
    return parts;
  });
}

Picture decode_part(Bytes bytes, const FilePicture& chosen, const ReadOptions& options) {
  return with_exr([&] {
    MemoryInput input(bytes);
    exr::MultiPartInputFile file(input, 0);
    const int index = static_cast<int>(chosen.at);
    const exr::Header& header = file.header(index);
    if (header.hasType() && exr::isDeepData(header.type()))
      unsupported(format, "deep data", "Flatten it first, for example with oiiotool.");
    Picture picture;
    const exr::FrameBuffer frame = place(header, options, picture);
    bool complete = file.partComplete(index);
    if (!complete && !options.allow_partial) damaged(format, "rows of pixels are missing");
    exr::InputPart part(file, index);
    part.setFrameBuffer(frame);
    const Box& window = header.dataWindow();
    if (options.allow_partial)
      complete = read_intact_rows(part, window) && complete;
    else
      part.readPixels(window.min.y, window.max.y);
    if (!complete) picture.warnings.push_back(partial_warning(format));
    return picture;
  });
}

/// Whether all finite values fit half floats, which hold up to 65504.
bool fits_half(const ImageView& image) {
  constexpr float largest = 65504.0F;
  for (std::int64_t y = 0; y < image.shape.height; ++y) {
    const auto* row = image.row<float>(y);
    const std::int64_t count = image.shape.width * image.shape.channels;
    if (std::any_of(row, row + count, [](float v) { return std::isfinite(v) && std::abs(v) > largest; }))
      return false;
  }
  return true;
}

/// Returns the header of the file that the picture was read from, if the picture still has that size.
ExrHeader header_of(const ImageView& image, const Metadata& metadata) {
  const PixelBox whole{0, 0, image.shape.width, image.shape.height};
  ExrHeader header = metadata.exr.value_or(ExrHeader{whole, whole});
  if (header.data.width != whole.width || header.data.height != whole.height)
    header.data = header.display = whole;
  return header;
}

/// A channel of a picture as the file stores it.
struct WrittenChannel {
  std::string name;
  exr::PixelType type;
  ImageView view;
  int index = 0;  ///< channel of the view
};

std::vector<WrittenChannel> written_channels(const ImageView& image, const WriteOptions& options) {
  constexpr std::array<const char*, 4> rgba{"R", "G", "B", "A"};
  constexpr std::array<const char*, 2> grey{"Y", "A"};
  const Shape& shape = image.shape;
  const std::optional<ExrHeader>& header = options.metadata.exr;
  const exr::PixelType type = options.metadata.half_floats && fits_half(image) ? exr::HALF : exr::FLOAT;
  std::vector<WrittenChannel> channels;
  for (int c = 0; c < shape.channels; ++c) {
    const auto index = static_cast<std::size_t>(c);
    channels.push_back({shape.channels >= 3 ? rgba[index] : grey[index], type, image, c});
  }
  if (shape.channels == 1 && header && !header->channel.empty()) channels.front().name = header->channel;
  for (const NamedChannel& named : options.channels) {
    const Shape& plane = named.plane.shape();
    if (plane.width != shape.width || plane.height != shape.height)
      continue;  // belongs to a picture of another size
    channels.push_back({named.name, plane.type == Type::u32 ? exr::UINT : exr::FLOAT, named.plane.view()});
  }
  return channels;
}

/// Gives all parts one display window, the smallest that contains all of theirs, and different names.
void make_parts(std::span<ExrHeader> headers) {
  PixelBox display = headers.front().display;
  for (std::size_t i = 0; i < headers.size(); ++i) {
    const PixelBox& own = headers[i].display;
    const std::int64_t right = std::max(display.x + display.width, own.x + own.width);
    const std::int64_t bottom = std::max(display.y + display.height, own.y + own.height);
    display.x = std::min(display.x, own.x);
    display.y = std::min(display.y, own.y);
    display.width = right - display.x;
    display.height = bottom - display.y;
    if (headers[i].part.empty()) headers[i].part = std::to_string(i + 1);
  }
  for (ExrHeader& header : headers) {
    header.display = display;
    header.pixel_aspect = headers.front().pixel_aspect;
  }
}

exr::Header stored_header(const ExrHeader& part, std::span<const WrittenChannel> channels,
                          bool one_of_several) {
  exr::Header header(window_of(part.display), window_of(part.data), part.pixel_aspect);
  header.compression() = exr::ZIP_COMPRESSION;
  if (!part.part.empty()) header.setName(part.part);
  if (!part.view.empty()) header.setView(part.view);
  if (one_of_several) header.setType(exr::SCANLINEIMAGE);
  for (const WrittenChannel& channel : channels)
    header.channels().insert(channel.name, exr::Channel(channel.type));
  return header;
}

/// Returns the values of a channel as half floats, rounded to nearest.
std::vector<half> halves_of(const WrittenChannel& channel) {
  const Shape& shape = channel.view.shape;
  std::vector<half> values;
  values.reserve(static_cast<std::size_t>(shape.width * shape.height));
  for (std::int64_t y = 0; y < shape.height; ++y)
    for (std::int64_t x = 0; x < shape.width; ++x)
      values.emplace_back(channel.view.value<float>(x, y, channel.index));
  return values;
}

/// `file` is an OutputFile or an OutputPart.
void write_pixels(auto&& file, std::span<const WrittenChannel> channels, const PixelBox& window) {
  exr::FrameBuffer frame;
  std::vector<std::vector<half>> halves;
  for (const WrittenChannel& channel : channels) {
    if (channel.type != exr::HALF) {
      frame.insert(channel.name, slice_of(channel.type, channel.view, channel.index, window));
      continue;
    }
    const std::vector<half>& values = halves.emplace_back(halves_of(channel));
    constexpr std::ptrdiff_t size = sizeof(half);
    frame.insert(channel.name, slice_of(exr::HALF, values.data(), size, size * window.width, window));
  }
  file.setFrameBuffer(frame);
  file.writePixels(static_cast<int>(window.height));
}

FileBytes encode_parts(std::span<const ImageView> images, std::span<const WriteOptions> options) {
  const std::size_t count = images.size();
  std::vector<ExrHeader> parts;
  std::vector<std::vector<WrittenChannel>> channels;
  for (std::size_t i = 0; i < count; ++i) {
    parts.push_back(header_of(images[i], options[i].metadata));
    channels.push_back(written_channels(images[i], options[i]));
  }
  if (count > 1) make_parts(parts);
  try {
    std::vector<exr::Header> headers;
    for (std::size_t i = 0; i < count; ++i)
      headers.push_back(stored_header(parts[i], channels[i], count > 1));
    MemoryOutput output;
    if (count == 1) {
      write_pixels(exr::OutputFile(output, headers.front(), 0), channels.front(), parts.front().data);
    } else {
      exr::MultiPartOutputFile file(output, headers.data(), static_cast<int>(count), false, 0);
      for (std::size_t i = 0; i < count; ++i)
        write_pixels(exr::OutputPart(file, static_cast<int>(i)), channels[i], parts[i].data);
    }
    return std::move(output.sink.bytes);
  } catch (const std::exception& error) {
    not_encoded(format, error.what());
  }
}

}  // namespace
}  // namespace satin::io

extern "C" __attribute__((visibility("default"))) const satin::io::CodecModule* satin_codecs() {
  namespace io = satin::io;
  static const io::CodecModule module = [] {
    // OpenEXR allocates tables by the size that a header claims, before place() can check it.
    constexpr int largest_side = 1 << 20, largest_tile = 1 << 14;
    io::exr::Header::setMaxImageSize(largest_side, largest_side);
    io::exr::Header::setMaxTileSize(largest_tile, largest_tile);
    return io::CodecModule{satin::version(), [](io::Codec& codec) {
                             codec.several = {"part", io::list_parts, io::decode_part, io::encode_parts};
                           }};
  }();
  return &module;
}

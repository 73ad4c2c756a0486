// The OpenEXR module (interface: module.h): OpenEXR from memory to memory.

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

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <stdexcept>
#include <vector>

#include "io/module.h"

namespace {

namespace exr = OPENEXR_IMF_NAMESPACE;

SatinExrResult fail(SatinExrMessage* message, const char* text) {
  std::snprintf(message->text, sizeof message->text, "%s", text);
  return satin_exr_failed;
}

class MemoryInput : public exr::IStream {
 public:
  MemoryInput(const char* data, std::size_t size) : IStream("memory"), data_(data), size_(size) {}

  bool isMemoryMapped() const override { return false; }
  bool read(char target[], int count) override {
    if (count < 0 || position_ > size_ || static_cast<std::size_t>(count) > size_ - position_)
      throw std::runtime_error("the file ends early");
    std::memcpy(target, data_ + position_, static_cast<std::size_t>(count));
    position_ += static_cast<std::size_t>(count);
    return position_ < size_;
  }
  std::uint64_t tellg() override { return position_; }
  void seekg(std::uint64_t position) override { position_ = position; }
  void clear() override {}

 private:
  const char* data_;
  std::size_t size_;
  std::size_t position_ = 0;
};

class MemoryOutput : public exr::OStream {
 public:
  MemoryOutput() : OStream("memory") {}

  void write(const char data[], int count) override {
    const auto size = static_cast<std::size_t>(count);
    if (position_ + size > bytes_.size()) bytes_.resize(position_ + size);
    std::memcpy(bytes_.data() + position_, data, size);
    position_ += size;
  }
  std::uint64_t tellp() override { return position_; }
  void seekp(std::uint64_t position) override { position_ = position; }
  const std::vector<char>& bytes() const { return bytes_; }

 private:
  std::vector<char> bytes_;
  std::size_t position_ = 0;
};

std::vector<SatinExrChannel> channels_of(const exr::Header& header) {
  std::vector<SatinExrChannel> channels;
  const exr::ChannelList& list = header.channels();
  for (auto channel = list.begin(); channel != list.end(); ++channel) {
    const exr::Channel& stored = channel.channel();
    const SatinExrType type = stored.type == exr::UINT   ? satin_exr_uint
                              : stored.type == exr::HALF ? satin_exr_half
                                                         : satin_exr_float;
    channels.push_back(
        {channel.name(), type, stored.xSampling != 1 || stored.ySampling != 1 ? 1 : 0, nullptr, 0, 0});
  }
  return channels;
}

exr::PixelType type_in_memory(SatinExrType type) { return type == satin_exr_uint ? exr::UINT : exr::FLOAT; }

/// Describes a channel to OpenEXR, which addresses pixels from (0, 0) wherever the window is.
exr::Slice slice_of(const SatinExrChannel& channel, exr::PixelType type, int left, int top) {
  const auto address = reinterpret_cast<std::uintptr_t>(channel.data) -
                       static_cast<std::uintptr_t>(static_cast<std::int64_t>(left)) * channel.pixel_stride -
                       static_cast<std::uintptr_t>(static_cast<std::int64_t>(top)) * channel.row_stride;
  return {type, reinterpret_cast<char*>(address), channel.pixel_stride, channel.row_stride};
}

/// Reads rows one by one and skips damaged ones. Returns true if all could be read.
bool read_what_is_there(exr::InputPart& part, int top, int bottom) {
  bool complete = true;
  for (int y = top; y <= bottom; ++y) try {
      part.readPixels(y);
    } catch (const std::exception&) {
      complete = false;
    }
  return complete;
}

SatinExrWindow window_of(const IMATH_NAMESPACE::Box2i& box) {
  return {box.min.x, box.min.y, box.max.x, box.max.y};
}

IMATH_NAMESPACE::Box2i box_of(const SatinExrWindow& window) {
  return {{window.left, window.top}, {window.right, window.bottom}};
}

SatinExrResult list(const char* data, std::size_t size, SatinExrName show, void* user,
                    SatinExrMessage* message) try {
  MemoryInput input(data, size);
  const exr::MultiPartInputFile file(input, 0);
  for (int i = 0; i < file.parts(); ++i) {
    const exr::Header& header = file.header(i);
    if (show(user, header.hasName() ? header.name().c_str() : "") == 0) return fail(message, "given up");
  }
  return satin_exr_good;
} catch (const std::exception& error) {
  return fail(message, error.what());
}

SatinExrResult decode(const char* data, std::size_t size, int index, int partial, SatinExrPlace place,
                      void* user, SatinExrMessage* message) try {
  MemoryInput input(data, size);
  exr::MultiPartInputFile file(input, 0);
  const exr::Header& header = file.header(index);
  if (header.hasType() && exr::isDeepData(header.type())) return fail(message, "deep data");
  const auto& window = header.dataWindow();
  std::vector<SatinExrChannel> channels = channels_of(header);
  const SatinExrPart shown{header.hasName() ? header.name().c_str() : "",
                           header.hasView() ? header.view().c_str() : "",
                           window_of(window),
                           window_of(header.displayWindow()),
                           header.pixelAspectRatio(),
                           channels.data(),
                           static_cast<int>(channels.size())};
  if (place(user, &shown) == 0) return fail(message, "given up");
  const bool complete = file.partComplete(index);
  if (!complete && partial == 0) return fail(message, "rows of pixels are missing");

  exr::FrameBuffer frame;
  for (const SatinExrChannel& channel : channels)
    if (channel.data != nullptr)
      frame.insert(channel.name, slice_of(channel, type_in_memory(channel.type), window.min.x, window.min.y));
  exr::InputPart part(file, index);
  part.setFrameBuffer(frame);
  if (partial != 0)
    return read_what_is_there(part, window.min.y, window.max.y) && complete ? satin_exr_good
                                                                            : satin_exr_partial;
  part.readPixels(window.min.y, window.max.y);
  return satin_exr_good;
} catch (const std::exception& error) {
  return fail(message, error.what());
}

/// Returns the values of a channel as half floats, rounded to nearest.
std::vector<half> halves_of(const SatinExrChannel& channel, int width, int height) {
  std::vector<half> values;
  values.reserve(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      float value = 0;
      std::memcpy(&value,
                  channel.data + static_cast<std::size_t>(y) * channel.row_stride +
                      static_cast<std::size_t>(x) * channel.pixel_stride,
                  sizeof value);
      values.emplace_back(value);
    }
  return values;
}

exr::Header header_of(const SatinExrPart& part, bool one_of_several) {
  exr::Header header(box_of(part.display), box_of(part.data), part.pixel_aspect);
  header.compression() = exr::ZIP_COMPRESSION;
  if (part.name[0] != '\0') header.setName(part.name);
  if (part.view[0] != '\0') header.setView(part.view);
  if (one_of_several) header.setType(exr::SCANLINEIMAGE);
  for (const SatinExrChannel& channel : std::span(part.channels, static_cast<std::size_t>(part.count)))
    header.channels().insert(
        channel.name,
        exr::Channel(channel.type == satin_exr_half ? exr::HALF : type_in_memory(channel.type)));
  return header;
}

/// `file` is an OutputFile or an OutputPart.
void write_pixels(auto&& file, const SatinExrPart& shown) {
  const auto& [left, top, right, bottom] = shown.data;
  const int width = right - left + 1, height = bottom - top + 1;
  exr::FrameBuffer frame;
  std::vector<std::vector<half>> halves(static_cast<std::size_t>(shown.count));
  for (int i = 0; i < shown.count; ++i) {
    SatinExrChannel channel = shown.channels[i];
    exr::PixelType type = type_in_memory(channel.type);
    if (channel.type == satin_exr_half) {
      std::vector<half>& values = halves[static_cast<std::size_t>(i)];
      values = halves_of(channel, width, height);
      type = exr::HALF;
      channel.data = reinterpret_cast<char*>(values.data());
      channel.pixel_stride = sizeof(half);
      channel.row_stride = sizeof(half) * static_cast<std::size_t>(width);
    }
    frame.insert(channel.name, slice_of(channel, type, left, top));
  }
  file.setFrameBuffer(frame);
  file.writePixels(height);
}

SatinExrResult encode(const SatinExrPart* parts, int count, SatinExrWrite write, void* user,
                      SatinExrMessage* message) try {
  std::vector<exr::Header> headers;
  for (int i = 0; i < count; ++i) headers.push_back(header_of(parts[i], count > 1));
  MemoryOutput output;
  if (count == 1) {
    write_pixels(exr::OutputFile(output, headers.front(), 0), parts[0]);
  } else {
    exr::MultiPartOutputFile file(output, headers.data(), count, false, 0);
    for (int i = 0; i < count; ++i) write_pixels(exr::OutputPart(file, i), parts[i]);
  }
  return write(user, output.bytes().data(), output.bytes().size()) != 0 ? satin_exr_good
                                                                        : fail(message, "no memory");
} catch (const std::exception& error) {
  return fail(message, error.what());
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const SatinExr* satin_exr() {
  static const SatinExr table = [] {
    // OpenEXR allocates tables by the size that a header claims, before codec_exr.cpp can check it.
    constexpr int largest_side = 1 << 20, largest_tile = 1 << 14;
    exr::Header::setMaxImageSize(largest_side, largest_side);
    exr::Header::setMaxTileSize(largest_tile, largest_tile);
    return SatinExr{satin::io::exr_interface_version, list, decode, encode};
  }();
  return &table;
}

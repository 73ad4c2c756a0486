// The module itself: OpenEXR, from memory to memory.

#include <OpenEXR/ImfChannelList.h>
#include <OpenEXR/ImfCompression.h>
#include <OpenEXR/ImfFrameBuffer.h>
#include <OpenEXR/ImfHeader.h>
#include <OpenEXR/ImfIO.h>
#include <OpenEXR/ImfInputPart.h>
#include <OpenEXR/ImfMultiPartInputFile.h>
#include <OpenEXR/ImfOutputFile.h>
#include <OpenEXR/ImfPartType.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "io/exr_interface.h"

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

/// OpenEXR counts from pixel (0, 0), wherever the window lies.
exr::Slice slice_of(const SatinExrChannel& channel, exr::PixelType type, int left, int top) {
  const auto address = reinterpret_cast<std::uintptr_t>(channel.data) -
                       static_cast<std::uintptr_t>(static_cast<std::int64_t>(left)) * channel.pixel_stride -
                       static_cast<std::uintptr_t>(static_cast<std::int64_t>(top)) * channel.row_stride;
  return {type, reinterpret_cast<char*>(address), channel.pixel_stride, channel.row_stride};
}

/// Reads rows one by one; true if all of them are there.
bool read_what_is_there(exr::InputPart& part, int top, int bottom) {
  bool complete = true;
  for (int y = top; y <= bottom; ++y) try {
      part.readPixels(y);
    } catch (const std::exception&) {
      complete = false;
    }
  return complete;
}

SatinExrResult decode(const char* data, std::size_t size, int partial, SatinExrPlace place, void* user,
                      SatinExrMessage* message) try {
  MemoryInput input(data, size);
  exr::MultiPartInputFile file(input, 0);
  const exr::Header& header = file.header(0);
  if (header.hasType() && exr::isDeepData(header.type())) return fail(message, "deep data");
  const auto& window = header.dataWindow();
  std::vector<SatinExrChannel> channels = channels_of(header);
  if (place(user, window.max.x - window.min.x + 1, window.max.y - window.min.y + 1, channels.data(),
            static_cast<int>(channels.size())) == 0)
    return fail(message, "given up");
  const bool complete = file.partComplete(0);
  if (!complete && partial == 0) return fail(message, "rows of pixels are missing");

  exr::FrameBuffer frame;
  for (const SatinExrChannel& channel : channels)
    if (channel.data != nullptr)
      frame.insert(channel.name, slice_of(channel, type_in_memory(channel.type), window.min.x, window.min.y));
  exr::InputPart part(file, 0);
  part.setFrameBuffer(frame);
  if (partial != 0)
    return read_what_is_there(part, window.min.y, window.max.y) && complete ? satin_exr_good
                                                                            : satin_exr_partial;
  part.readPixels(window.min.y, window.max.y);
  return satin_exr_good;
} catch (const std::exception& error) {
  return fail(message, error.what());
}

/// The values of a channel as half floats, rounded to nearest.
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

SatinExrResult encode(int width, int height, const SatinExrChannel* channels, int count, SatinExrWrite write,
                      void* user, SatinExrMessage* message) try {
  exr::Header header(width, height);
  header.compression() = exr::ZIP_COMPRESSION;
  exr::FrameBuffer frame;
  std::vector<std::vector<half>> halves(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    const SatinExrChannel& channel = channels[i];
    if (channel.type == satin_exr_half) {
      std::vector<half>& values = halves[static_cast<std::size_t>(i)];
      values = halves_of(channel, width, height);
      header.channels().insert(channel.name, exr::Channel(exr::HALF));
      frame.insert(channel.name, exr::Slice(exr::HALF, reinterpret_cast<char*>(values.data()), sizeof(half),
                                            sizeof(half) * static_cast<std::size_t>(width)));
      continue;
    }
    const exr::PixelType type = type_in_memory(channel.type);
    header.channels().insert(channel.name, exr::Channel(type));
    frame.insert(channel.name, slice_of(channel, type, 0, 0));
  }
  MemoryOutput output;
  {
    exr::OutputFile file(output, header, 0);
    file.setFrameBuffer(frame);
    file.writePixels(height);
  }
  return write(user, output.bytes().data(), output.bytes().size()) != 0 ? satin_exr_good
                                                                        : fail(message, "no memory");
} catch (const std::exception& error) {
  return fail(message, error.what());
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const SatinExr* satin_exr() {
  static const SatinExr table = [] {
    // Tables are allocated by the size that a header claims, before this library can look at it.
    constexpr int largest_side = 1 << 20, largest_tile = 1 << 14;
    exr::Header::setMaxImageSize(largest_side, largest_side);
    exr::Header::setMaxTileSize(largest_tile, largest_tile);
    return SatinExr{satin::io::exr_interface_version, decode, encode};
  }();
  return &table;
}

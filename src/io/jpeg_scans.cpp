#include "jpeg_scans.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "support.h"

namespace satin::io {
namespace {

enum Marker : unsigned {
  baseline = 0xC0,
  extended = 0xC1,
  progressive = 0xC2,
  code_tables = 0xC4,
  first_restart = 0xD0,
  last_restart = 0xD7,
  end_of_image = 0xD9,
  start_of_scan = 0xDA,
  quantisers = 0xDB,
  restart_interval = 0xDD,
  first_application = 0xE0,
  last_application = 0xEF,
  comment = 0xFE
};

// What the codec allows libjpeg, too (codec_jpeg.cpp).
constexpr int most_scans = 200;

constexpr std::uint64_t divided_up(std::uint64_t value, std::uint64_t by) { return (value + by - 1) / by; }

struct Component {
  unsigned id = 0;
  unsigned horizontal = 1;
  unsigned vertical = 1;
};

/// The header of a frame.
struct Frame {
  unsigned marker = 0;
  std::uint64_t width = 0;
  std::uint64_t height = 0;
  std::array<Component, 3> components;
  std::size_t count = 0;
  unsigned widest = 1;
  unsigned tallest = 1;

  /// Nothing unless there are 1 or 3 components of 8 bits with sampling factors from 1 to 4.
  static std::optional<Frame> of(unsigned marker, Bytes content) {
    if (content.size() < 6 || byte_at(content, 0) != 8) return std::nullopt;
    Frame frame;
    frame.marker = marker;
    frame.height = be16(content, 1);
    frame.width = be16(content, 3);
    frame.count = byte_at(content, 5);
    const bool known = (frame.count == 1 || frame.count == 3) && content.size() == 6 + 3 * frame.count;
    if (!known || frame.width == 0 || frame.height == 0) return std::nullopt;
    for (std::size_t i = 0; i < frame.count; ++i) {
      const unsigned sampling = byte_at(content, 7 + 3 * i);
      frame.components[i] = {byte_at(content, 6 + 3 * i), sampling >> 4, sampling & 15U};
      const auto& [id, horizontal, vertical] = frame.components[i];
      if (horizontal < 1 || horizontal > 4 || vertical < 1 || vertical > 4) return std::nullopt;
      frame.widest = std::max(frame.widest, horizontal);
      frame.tallest = std::max(frame.tallest, vertical);
    }
    return frame;
  }

  /// Units of a scan of these components, between which restart markers may stand (ITU-T T.81, A.2).
  [[nodiscard]] std::uint64_t units(const std::vector<const Component*>& scanned) const {
    if (scanned.size() > 1)
      return divided_up(width, std::uint64_t{8} * widest) * divided_up(height, std::uint64_t{8} * tallest);
    const Component& only = *scanned.front();
    return divided_up(divided_up(width * only.horizontal, widest), 8) *
           divided_up(divided_up(height * only.vertical, tallest), 8);
  }
};

class Walk {
 public:
  explicit Walk(Bytes bytes) : bytes_(bytes) {}

  /// True if all is as it must be; at_ is behind the end marker then.
  bool run() {
    while (next_marker()) {
      if (marker_ == end_of_image) return scans_ > 0;
      const std::optional<Bytes> content = segment();
      if (!content || !take(*content)) return false;
    }
    return false;
  }

  [[nodiscard]] std::size_t end() const noexcept { return at_; }

 private:
  bool next_marker() {
    if (bytes_.size() - at_ < 2 || byte_at(bytes_, at_) != 0xFF) return false;
    marker_ = byte_at(bytes_, at_ + 1);
    at_ += 2;
    return true;
  }

  std::optional<Bytes> segment() {
    if (bytes_.size() - at_ < 2) return std::nullopt;
    const std::size_t length = be16(bytes_, at_);
    if (length < 2 || length > bytes_.size() - at_) return std::nullopt;
    const Bytes content = bytes_.subspan(at_ + 2, length - 2);
    at_ += length;
    return content;
  }

  bool take(Bytes content) {
    switch (marker_) {
      case baseline:
      case extended:
      case progressive:
        if (frame_) return false;
        frame_ = Frame::of(marker_, content);
        return frame_.has_value();
      case restart_interval:
        if (content.size() != 2) return false;
        interval_ = be16(content, 0);
        return true;
      case quantisers:
        return scans_ == 0;
      case start_of_scan:
        return scan(content);
      default:
        return marker_ == code_tables || marker_ == comment ||
               (marker_ >= first_application && marker_ <= last_application);
    }
  }

  bool scan(Bytes header) {
    if (!frame_ || ++scans_ > most_scans) return false;
    const std::vector<const Component*> scanned = components_of(header);
    if (scanned.empty()) return false;
    const bool whole = scanned.size() == frame_->count;
    if (frame_->marker != progressive && (!whole || scans_ > 1)) return false;
    const std::uint64_t units = frame_->units(scanned);
    return codes(interval_ == 0 ? 0 : divided_up(units, interval_) - 1);
  }

  /// Empty if the scan names others than those of the frame, in their order.
  std::vector<const Component*> components_of(Bytes header) {
    std::vector<const Component*> found;
    const std::size_t count = header.empty() ? 0 : byte_at(header, 0);
    if (count == 0 || header.size() != 4 + 2 * count) return {};
    auto next = frame_->components.begin();
    const auto end = next + static_cast<std::ptrdiff_t>(frame_->count);
    for (std::size_t i = 0; i < count; ++i) {
      const unsigned id = byte_at(header, 1 + 2 * i);
      next = std::find_if(next, end, [id](const Component& component) { return component.id == id; });
      if (next == end) return {};
      found.push_back(&*next++);
    }
    return found;
  }

  /// Goes to the marker behind the codes of a scan; true if the restart markers among them are these.
  bool codes(std::uint64_t restarts) {
    for (std::uint64_t seen = 0;;) {
      const auto* from = bytes_.data() + at_;
      const void* found = std::memchr(from, 0xFF, bytes_.size() - at_);
      if (found == nullptr) return false;
      at_ += static_cast<std::size_t>(static_cast<const std::byte*>(found) - from);
      if (bytes_.size() - at_ < 2) return false;
      const unsigned next = byte_at(bytes_, at_ + 1);
      const bool restart = next >= first_restart && next <= last_restart;
      if (next != 0 && !restart) return seen == restarts;
      if (restart && next - first_restart != seen++ % 8) return false;
      at_ += 2;
    }
  }

  Bytes bytes_;
  std::size_t at_ = 2;
  unsigned marker_ = 0;
  unsigned interval_ = 0;
  int scans_ = 0;
  std::optional<Frame> frame_;
};

}  // namespace

std::optional<Bytes> whole_jpeg(Bytes bytes) {
  if (!starts_with(bytes, "\xff\xd8\xff")) return std::nullopt;
  Walk walk(bytes);
  if (!walk.run()) return std::nullopt;
  return bytes.first(walk.end());
}

}  // namespace satin::io

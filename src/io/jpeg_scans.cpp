#include "io/jpeg_scans.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "io/jpeg_codes.h"
#include "io/support.h"

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

bool are_quantisers(Bytes content) {
  while (!content.empty()) {
    const unsigned id = byte_at(content, 0);
    const std::size_t size = id >> 4 == 0 ? 65 : 129;
    if (id >> 4 > 1 || (id & 15U) > 3 || content.size() < size) return false;
    content = content.subspan(size);
  }
  return true;
}

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
        return scans_ == 0 && are_quantisers(content);
      case code_tables:
        return tables(content);
      case start_of_scan:
        return scan(content);
      default:
        return marker_ == comment || (marker_ >= first_application && marker_ <= last_application);
    }
  }

  bool tables(Bytes content) {
    constexpr std::size_t head = 17;
    while (!content.empty()) {
      if (content.size() < head) return false;
      const unsigned id = byte_at(content, 0);
      std::size_t count = 0;
      for (std::size_t i = 1; i < head; ++i) count += byte_at(content, i);
      if (id >> 4 > 1 || (id & 15U) > 3 || count > content.size() - head) return false;
      const bool of_first_coefficients = id >> 4 == 0;
      if (!tables_[id >> 4][id & 15U].define(content.subspan(1, head - 1), content.subspan(head, count),
                                             of_first_coefficients))
        return false;
      content = content.subspan(head + count);
    }
    return true;
  }

  bool scan(Bytes header) {
    if (!frame_ || ++scans_ > most_scans) return false;
    const std::vector<const Component*> scanned = components_of(header);
    if (scanned.empty()) return false;
    std::vector<BlockTables> unit;
    if (frame_->marker != progressive) {
      if (scanned.size() != frame_->count || scans_ > 1) return false;
      unit = unit_of(header, scanned);
      if (unit.empty()) return false;
    }
    return codes(unit, frame_->units(scanned));
  }

  /// The blocks of a unit of the only scan of a sequential file; empty if its header is not that of one.
  std::vector<BlockTables> unit_of(Bytes header, const std::vector<const Component*>& scanned) const {
    std::vector<BlockTables> unit;
    const std::size_t behind = 1 + 2 * scanned.size();
    constexpr unsigned last_coefficient = 63;
    if (byte_at(header, behind) != 0 || byte_at(header, behind + 1) != last_coefficient ||
        byte_at(header, behind + 2) != 0)
      return {};
    for (std::size_t i = 0; i < scanned.size(); ++i) {
      const unsigned numbers = byte_at(header, 2 + 2 * i);
      if (numbers >> 4 > 3 || (numbers & 15U) > 3) return {};
      const BlockTables block{&tables_[0][numbers >> 4], &tables_[1][numbers & 15U]};
      if (!block.first->defined() || !block.others->defined()) return {};
      const unsigned blocks = scanned.size() == 1 ? 1 : scanned[i]->horizontal * scanned[i]->vertical;
      unit.insert(unit.end(), blocks, block);
    }
    return unit;
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

  /// Goes to the marker behind the codes of a scan of so many units. True if its restart markers are all
  /// there, and its codes, unless `unit` is empty.
  bool codes(const std::vector<BlockTables>& unit, std::uint64_t left) {
    for (unsigned restarts = 0;; ++restarts) {
      const std::optional<Bytes> data = data_before_marker();
      if (!data) return false;
      const std::uint64_t here = interval_ == 0 ? left : std::min<std::uint64_t>(left, interval_);
      if (!unit.empty() && !holds_codes(*data, unit, here)) return false;
      left -= here;
      const unsigned next = byte_at(bytes_, at_ + 1);
      if (next < first_restart || next > last_restart) return left == 0;
      if (left == 0 || next - first_restart != restarts % 8) return false;
      at_ += 2;
    }
  }

  /// Nothing if the file ends before a marker.
  std::optional<Bytes> data_before_marker() {
    const std::size_t start = at_;
    while (bytes_.size() - at_ >= 2) {
      const auto* from = bytes_.data() + at_;
      const void* found = std::memchr(from, 0xFF, bytes_.size() - at_ - 1);
      if (found == nullptr) return std::nullopt;
      at_ += static_cast<std::size_t>(static_cast<const std::byte*>(found) - from);
      if (byte_at(bytes_, at_ + 1) != 0) return bytes_.subspan(start, at_ - start);
      at_ += 2;
    }
    return std::nullopt;
  }

  Bytes bytes_;
  std::size_t at_ = 2;
  unsigned marker_ = 0;
  unsigned interval_ = 0;
  int scans_ = 0;
  std::optional<Frame> frame_;
  std::array<std::array<CodeTable, 4>, 2> tables_;  ///< of first coefficients, of others
};

}  // namespace

std::optional<Bytes> whole_jpeg(Bytes bytes) {
  if (!starts_with(bytes, "\xff\xd8\xff")) return std::nullopt;
  Walk walk(bytes);
  if (!walk.run()) return std::nullopt;
  return bytes.first(walk.end());
}

}  // namespace satin::io

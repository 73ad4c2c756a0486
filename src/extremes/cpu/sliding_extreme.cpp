// Sliding minima and maxima: rows by windows that are joined from smaller ones, columns by segmented scans
// over lines. Compiled for every SIMD target.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "extremes/cpu/sliding_extreme.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>

#include "core/cpu/backend.h"
#include "core/maths/window.h"
#include "core/with_type.h"
#include "core/workspace.h"
#include "extremes/maths/extreme.h"
#include "extremes/sliding_extreme.h"
#include "pixels/cpu/rows.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Minima and maxima over rows and series of lines.

/// Where the windows begin that together make a larger one.
struct JoinedWindows {
  int count = 1;  ///< 1 to 4
  std::size_t offset[4] = {};
};

struct Least {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Min(a, b);
  }
};

struct Greatest {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Max(a, b);
  }
};

/// Calls action(op): op(a, b) is the extreme of two vectors.
template <class Action>
void WithExtreme(Extreme extreme, const Action& action) {
  extreme == Extreme::minimum ? action(Least()) : action(Greatest());
}

/// Calls body(d, i) for every vector of keys, then for every key that is left.
template <class Key, class Body>
HWY_INLINE void ForVectors(std::size_t count, const Body& body) {
  const hn::ScalableTag<Key> d;
  const hn::CappedTag<Key, 1> one;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) body(d, i);
  for (; i < count; ++i) body(one, i);
}

template <int Windows, class Op, class Key>
void JoinCounted(Op op, const Key* from, const JoinedWindows& windows, std::size_t count, Key* out) {
  ForVectors<Key>(count, [=](auto d, std::size_t i) {
    auto value = hn::LoadU(d, from + i + windows.offset[0]);
    for (int k = 1; k < Windows; ++k) value = op(value, hn::LoadU(d, from + i + windows.offset[k]));
    hn::StoreU(value, d, out + i);
  });
}

/// out[i] = extreme over from[i + offset]. `out` may be `from`, if the first offset is 0.
template <class Key>
void JoinWindows(Extreme extreme, const Key* from, const JoinedWindows& windows, std::size_t count,
                 Key* out) {
  WithExtreme(extreme, [&](auto op) {
    switch (windows.count) {
      case 1:
        return JoinCounted<1>(op, from, windows, count, out);
      case 2:
        return JoinCounted<2>(op, from, windows, count, out);
      case 3:
        return JoinCounted<3>(op, from, windows, count, out);
      default:
        return JoinCounted<4>(op, from, windows, count, out);
    }
  });
}

/// into[i] = extreme of into[i] and other[i]
template <class Key>
void JoinLines(Extreme extreme, const Key* other, std::size_t count, Key* into) {
  WithExtreme(extreme, [&](auto op) {
    ForVectors<Key>(count, [=](auto d, std::size_t i) {
      hn::StoreU(op(hn::LoadU(d, into + i), hn::LoadU(d, other + i)), d, into + i);
    });
  });
}

/// prefix[i] = extreme of prefix[i] and line[i]; out[i] = extreme of that and suffix[i]
template <class Key>
void AdvanceLines(Extreme extreme, const Key* line, const Key* suffix, std::size_t count,
                  Key* HWY_RESTRICT prefix, Key* HWY_RESTRICT out) {
  WithExtreme(extreme, [&](auto op) {
    ForVectors<Key>(count, [=](auto d, std::size_t i) {
      const auto grown = op(hn::LoadU(d, prefix + i), hn::LoadU(d, line + i));
      hn::StoreU(grown, d, prefix + i);
      hn::StoreU(op(grown, hn::LoadU(d, suffix + i)), d, out + i);
    });
  });
}

/// Extremes over a window that moves down a series of lines, three comparisons a key whatever the window (van
/// Herk, A fast algorithm for local minimum and maximum filters on rectangular and octagonal kernels, 1992;
/// Gil and Werman, Computing 2-D min, median, and max filters, 1993).
///
/// The series is cut into segments of one window each. A window is the end of one segment and the beginning
/// of the next: a suffix and a prefix, each an extreme that is scanned within its segment.
template <class Key>
class SlidingLines {
 public:
  /// Windows of `window` lines, series of at most `most_lines` lines of at most `most_keys` keys.
  SlidingLines(Extreme extreme, std::int64_t window, std::int64_t most_lines, std::size_t most_keys)
      : extreme_(extreme),
        window_(static_cast<std::size_t>(window)),
        stride_(most_keys),
        segment_(static_cast<std::size_t>(std::min(window, most_lines)) * most_keys),
        prefix_(most_keys) {}

  [[nodiscard]] std::size_t bytes() const noexcept {
    return (segment_.size() + prefix_.size()) * sizeof(Key);
  }

  /// Begins a series of lines of `keys` keys.
  void start(std::size_t keys) {
    keys_ = keys;
    position_ = 0;
    taken_ = 0;
    first_segment_ = true;
  }

  /// Where the next line is to be put before take() is called.
  [[nodiscard]] Key* next_line() { return line(position_); }

  /// Takes the next line. `out`, unless it is null, gets the extremes of the window that ends with it, or of
  /// all lines so far if they are fewer.
  void take(Key* out) {
    const Key* next = line(position_);
    const bool whole_segment = position_ + 1 == window_;
    if (position_ == 0) {
      std::copy_n(next, keys_, prefix_.data());
      if (out != nullptr) finish_window(whole_segment, out);
    } else if (out != nullptr && !first_segment_ && !whole_segment) {
      AdvanceLines(extreme_, next, line(position_ + 1), keys_, prefix_.data(), out);
    } else {
      JoinLines(extreme_, next, keys_, prefix_.data());
      if (out != nullptr) std::copy_n(prefix_.data(), keys_, out);
    }
    ++taken_;
    advance();
  }

  /// Moves the window on where the series of lines is over.
  void take_nothing(Key* out) {
    if (out != nullptr && taken_ == 0) {
      std::copy_n(line(position_ + 1), keys_, out);
    } else if (out != nullptr) {
      finish_window(position_ + 1 == window_, out);
    }
    advance();
  }

 private:
  [[nodiscard]] Key* line(std::size_t index) { return segment_.data() + index * stride_; }

  /// Joins the prefix with what the window holds of the segment before.
  void finish_window(bool whole_segment, Key* out) {
    std::copy_n(prefix_.data(), keys_, out);
    if (!first_segment_ && !whole_segment) JoinLines(extreme_, line(position_ + 1), keys_, out);
  }

  void advance() {
    if (++position_ == window_) begin_segment();
  }

  /// Lines become suffixes: line i the extreme from i to the end of its segment.
  void begin_segment() {
    for (std::size_t i = taken_; i-- > 1;) JoinLines(extreme_, line(i), keys_, line(i - 1));
    position_ = 0;
    taken_ = 0;
    first_segment_ = false;
  }

  Extreme extreme_;
  std::size_t window_;
  std::size_t stride_;
  std::size_t keys_ = 0;
  std::size_t position_ = 0;  ///< in the segment
  std::size_t taken_ = 0;     ///< lines of the segment
  bool first_segment_ = true;
  WorkspaceVector<Key>
      segment_;  ///< lines of this segment up to position_, behind it suffixes of the one before
  WorkspaceVector<Key> prefix_;
};

// Bytes of lines that one thread keeps at hand: they are to stay in its second-level cache.
constexpr std::size_t most_row_bytes = std::size_t{3} << 18;
constexpr std::size_t column_bytes = std::size_t{1} << 18;
constexpr std::size_t least_row_bytes = 256;

/// A rectangle of the picture: columns [first, last) of some rows.
struct Columns {
  std::int64_t first;
  std::int64_t last;
};

/// Extremes along one row, by windows joined from up to four windows of a quarter of the size: a step for
/// each factor of four.
template <class Key>
class RowExtremes {
 public:
  explicit RowExtremes(const SlidingExtremeJob& job)
      : job_(job),
        channels_(static_cast<std::size_t>(job.channels)),
        reach_(needed_reach(job, job.reach_x, job.width)),
        line_(static_cast<std::size_t>(job.width + 2 * reach_) * channels_, neutral_key<Key>(job.extreme)) {}

  [[nodiscard]] std::size_t bytes() const noexcept { return line_.size() * sizeof(Key); }

  /// Keys of row y with the extremes of its windows.
  void run(const ImageView& source, std::int64_t y, Key* out) {
    read(source, y);
    const std::int64_t window = 2 * reach_ + 1;
    if (window == 1) std::copy(line_.begin(), line_.end(), out);
    for (std::int64_t size = 1; size < window;) {
      const std::int64_t joined = joined_size(size, window);
      const bool last = joined == window;
      // Windows that hold nothing of the picture stay neutral; the first that holds a pixel begins here.
      const std::int64_t first = wraps(job_) || last ? 0 : std::max<std::int64_t>(reach_ - (joined - 1), 0);
      const std::int64_t end = wraps(job_) || last
                                   ? job_.width + window - joined
                                   : std::min(job_.width + window - joined, reach_ + job_.width);
      Key* from = line_.data() + static_cast<std::size_t>(first) * channels_;
      JoinWindows(job_.extreme, from, pieces(size, joined), static_cast<std::size_t>(end - first) * channels_,
                  last ? out : from);
      size = joined;
    }
  }

 private:
  void read(const ImageView& source, std::int64_t y) {
    const std::size_t pad = static_cast<std::size_t>(reach_) * channels_;
    const std::size_t keys = static_cast<std::size_t>(job_.width) * channels_;
    Key* row = line_.data() + pad;
    std::copy_n(source.row<Key>(y), keys, row);
    if constexpr (std::is_same_v<Key, FloatKey>)
      std::transform(row, row + keys, row, [](Key bits) { return turn_key(bits); });
    if (job_.weighted)
      for (std::size_t i = 0; i < keys; i += channels_) hide_colours(row + i, job_.channels, job_.extreme);
    if (wraps(job_)) {
      std::copy_n(row + keys - pad, pad, line_.data());
      std::copy_n(row, pad, row + keys);
    } else {
      std::fill_n(line_.data(), pad, neutral_key<Key>(job_.extreme));  // behind the row they are still there
    }
  }

  [[nodiscard]] JoinedWindows pieces(std::int64_t size, std::int64_t joined) const {
    JoinedWindows windows;
    windows.count = static_cast<int>((joined + size - 1) / size);
    for (int i = 0; i < windows.count; ++i)
      windows.offset[i] = static_cast<std::size_t>(std::min(i * size, joined - size)) * channels_;
    return windows;
  }

  SlidingExtremeJob job_;
  std::size_t channels_;
  std::int64_t reach_;
  WorkspaceVector<Key> line_;  ///< the row with what its windows see beyond its ends
};

/// What one thread needs.
template <class Key>
struct ExtremeSlot {
  RowExtremes<Key> rows;
  SlidingLines<Key> lines;
  WorkspaceVector<Key>
      beginning;  ///< the first rows of a tile that wraps: they are overwritten before its end
};

template <class Key>
class SlidingExtreme final : public SlidingExtremeOperation {
 public:
  SlidingExtreme(CpuBackend& backend, const SlidingExtremeJob& job)
      : backend_(backend),
        job_(job),
        store_{job.channels, job.weighted, job.mask_maximum},
        channels_(static_cast<std::size_t>(job.channels)),
        reach_(needed_reach(job, job.reach_y, job.height)),
        window_(2 * reach_ + 1) {
    const std::int64_t most_lines = wraps(job) ? job.height + 2 * reach_ : job.height;
    const auto kept = static_cast<std::size_t>(std::min(window_, most_lines));
    const std::size_t row_bytes = static_cast<std::size_t>(job.width) * channels_ * sizeof(Key);
    in_rows_ = kept * row_bytes <= most_row_bytes;
    tile_width_ = in_rows_ ? job.width : column_width(kept);
    const std::size_t tile_keys = static_cast<std::size_t>(tile_width_) * channels_;
    const std::size_t beginning = in_rows_ || !wraps(job) ? 0 : static_cast<std::size_t>(reach_) * tile_keys;
    for (int i = 0; i < backend.threads.count(); ++i)
      slots_.push_back({RowExtremes<Key>(job), SlidingLines<Key>(job.extreme, window_, most_lines, tile_keys),
                        WorkspaceVector<Key>(beginning)});
    if (job.border == Border::constant)
      for (std::int64_t i = 0; i < job.width * job.channels; ++i)
        outside_.push_back(static_cast<Key>(job.border_keys[static_cast<std::size_t>(i % job.channels)]));
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    std::size_t bytes = outside_.size() * sizeof(Key);
    for (const ExtremeSlot<Key>& slot : slots_)
      bytes += slot.rows.bytes() + slot.lines.bytes() + slot.beginning.size() * sizeof(Key);
    return bytes;
  }

  void run(const SlidingExtremeImages& images, Stream) override {
    if (in_rows_) return run_rows(images);
    backend_.threads.for_rows(job_.height, 16, [&](std::int64_t first, std::int64_t last, int slot) {
      for (std::int64_t y = first; y < last; ++y)
        slot_at(slot).rows.run(images.source, y, images.output.template row<Key>(y));
    });
    const std::int64_t tiles = (job_.width + tile_width_ - 1) / tile_width_;
    backend_.threads.for_rows(tiles, 1, [&](std::int64_t first, std::int64_t last, int slot) {
      for (std::int64_t i = first; i < last; ++i)
        run_columns(images, {i * tile_width_, std::min((i + 1) * tile_width_, job_.width)}, slot_at(slot));
    });
  }

 private:
  [[nodiscard]] ExtremeSlot<Key>& slot_at(int index) { return slots_[static_cast<std::size_t>(index)]; }

  /// Pixels of a tile whose `lines` lines stay in the cache.
  [[nodiscard]] std::int64_t column_width(std::size_t lines) const {
    const std::size_t pixel = channels_ * sizeof(Key);
    const std::size_t row = std::max(column_bytes / lines, least_row_bytes);
    return std::min(static_cast<std::int64_t>(row / pixel / 64 * 64 + 64), job_.width);
  }

  /// Tiles of whole rows: rows go straight into the scans down the columns.
  void run_rows(const SlidingExtremeImages& images) {
    const std::int64_t threads = backend_.threads.count();
    const std::int64_t grain = std::max((job_.height + 4 * threads - 1) / (4 * threads), 16 * reach_);
    const std::int64_t most = (job_.height + threads - 1) / threads;
    backend_.threads.for_rows(
        job_.height, std::min(grain, most), [&](std::int64_t first, std::int64_t last, int index) {
          ExtremeSlot<Key>& slot = slot_at(index);
          slide(images, {0, job_.width}, first, last, slot.lines, [&](std::int64_t position, Key* line) {
            slot.rows.run(images.source, source_of(position, job_.height, job_.border), line);
          });
        });
  }

  /// A tile of columns whose rows are done already, in place: a row is written when no window needs it any
  /// more.
  void run_columns(const SlidingExtremeImages& images, Columns columns, ExtremeSlot<Key>& slot) {
    const std::size_t keys = static_cast<std::size_t>(columns.last - columns.first) * channels_;
    slide(images, columns, 0, job_.height, slot.lines, [&](std::int64_t position, Key* line) {
      if (position >= job_.height) {
        std::copy_n(slot.beginning.data() + static_cast<std::size_t>(position - job_.height) * keys, keys,
                    line);
        return;
      }
      const std::int64_t y = position < 0 ? position + job_.height : position;
      std::copy_n(row_of(images.output, columns, y), keys, line);
      if (wraps(job_) && position >= 0 && position < reach_)
        std::copy_n(line, keys, slot.beginning.data() + static_cast<std::size_t>(position) * keys);
    });
  }

  template <class Bytes>
  [[nodiscard]] auto* row_of(const Bytes& image, Columns columns, std::int64_t y) const {
    return image.template row<Key>(y) + static_cast<std::size_t>(columns.first) * channels_;
  }

  /// Rows [first, last) of these columns; `read` puts the row at a position of the extended picture into a
  /// line.
  template <class Read>
  void slide(const SlidingExtremeImages& images, Columns columns, std::int64_t first, std::int64_t last,
             SlidingLines<Key>& lines, const Read& read) {
    const std::int64_t start = wraps(job_) ? first - reach_ : std::max<std::int64_t>(first - reach_, 0);
    lines.start(static_cast<std::size_t>(columns.last - columns.first) * channels_);
    for (std::int64_t position = start; position < last + reach_; ++position) {
      const std::int64_t y = position - reach_;
      Key* out = y < first ? nullptr : row_of(images.output, columns, y);
      if (wraps(job_) || position < job_.height) {
        read(position, lines.next_line());
        lines.take(out);
      } else {
        lines.take_nothing(out);
      }
      if (out != nullptr) finish_row(images, columns, y, out);
    }
  }

  /// Turns keys of extremes into stored pixels.
  void finish_row(const SlidingExtremeImages& images, Columns columns, std::int64_t y, Key* out) const {
    if (!outside_.empty()) meet_outside(columns, y, out);
    const std::int64_t pixels = columns.last - columns.first;
    if (stores_plainly(job_)) {
      if constexpr (std::is_same_v<Key, FloatKey>)
        std::transform(out, out + pixels * job_.channels, out, [](Key key) { return turn_key(key); });
      return;
    }
    const Key* original = row_of(images.source, columns, y);
    for (std::int64_t x = 0; x < pixels; ++x)
      store_extreme(store_, original + x * job_.channels, mask_at(images.mask, columns.first + x, y),
                    out + x * job_.channels);
  }

  /// Windows that leave the picture see the value outside.
  void meet_outside(Columns columns, std::int64_t y, Key* out) const {
    const auto join = [&](std::int64_t from, std::int64_t to) {
      from = std::max(from, columns.first);
      to = std::min(to, columns.last);
      if (from >= to) return;
      JoinLines(job_.extreme, outside_.data(), static_cast<std::size_t>(to - from) * channels_,
                out + static_cast<std::size_t>(from - columns.first) * channels_);
    };
    if (leaves(y, job_.reach_y, job_.height)) return join(0, job_.width);
    const std::int64_t left = std::min(job_.reach_x, job_.width);
    join(0, left);
    join(std::max(left, job_.width - left), job_.width);
  }

  CpuBackend& backend_;
  SlidingExtremeJob job_;
  ExtremeStore store_;
  std::size_t channels_;
  std::int64_t reach_;
  std::int64_t window_;
  bool in_rows_ = true;
  std::int64_t tile_width_ = 0;  ///< width of a tile of columns
  WorkspaceVector<Key> outside_;
  WorkspaceVector<ExtremeSlot<Key>> slots_;  ///< one a thread
};

inline Prepared<SlidingExtremeJob> PrepareSlidingExtreme(Backend& backend, const SlidingExtremeJob& job) {
  return with_pixel_type(job.type, [&]<class T>() -> std::unique_ptr<SlidingExtremeOperation> {
    using Key = std::conditional_t<std::is_same_v<T, float>, FloatKey, T>;
    return std::make_unique<SlidingExtreme<Key>>(as_cpu(backend), job);
  });
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(PrepareSlidingExtreme);

Prepared<SlidingExtremeJob> prepare_sliding_extreme(Backend& backend, const SlidingExtremeJob& job) {
  return HWY_DYNAMIC_DISPATCH(PrepareSlidingExtreme)(backend, job);
}

}  // namespace satin::cpu
#endif

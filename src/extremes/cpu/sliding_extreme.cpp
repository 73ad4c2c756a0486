// Sliding minima and maxima on the CPU, compiled for every SIMD target.
//
// Along a row, windows are joined from up to four windows of a quarter of the size, in log4(window) steps of
// vector operations. Down the columns, suffixes and prefixes of segments give any window in three comparisons
// per key (SlidingLines). If the lines of a window fit the second-level cache as whole rows, both passes run
// together; otherwise rows come first, and columns follow in place, in tiles of columns that fit.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "extremes/cpu/sliding_extreme.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/cpu/backend.h"
#include "core/maths/window.h"
#include "core/windows.h"
#include "core/workspace.h"
#include "extremes/maths/extreme.h"
#include "extremes/sliding_extreme.h"
#include "pixels/cpu/rows.h"
#include "pixels/cpu/visible_pixels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Offsets of the windows that together make a larger one.
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

/// Calls action(op), where op(a, b) is the extreme of two vectors.
template <class Action>
void WithExtreme(Extreme extreme, const Action& action) {
  extreme == Extreme::minimum ? action(Least()) : action(Greatest());
}

/// Calls body(d, i) for every vector of keys; the last one overlaps the one before. Calls it for every key if
/// they do not fill a vector. `body` may see keys twice: the extreme of a key and itself is the key.
template <class Key, class Body>
HWY_INLINE void ForVectors(std::size_t count, const Body& body) {
  const hn::ScalableTag<Key> d;
  const hn::CappedTag<Key, 1> one;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) body(d, i);
  if (i == count) return;
  if (count >= lanes) return body(d, count - lanes);
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

/// out[i] = extreme over from[i + offset]. `out` may be `from`, if the first offset is 0. `count` is then
/// rounded up to whole vectors, as no vector may overlap another.
template <class Key>
void JoinWindows(Extreme extreme, const Key* from, const JoinedWindows& windows, std::size_t count,
                 Key* out) {
  if (out == from) count = hwy::RoundUpTo(count, hn::Lanes(hn::ScalableTag<Key>()));
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

/// Calls hide_colours() for the pixels of a row.
template <class Key>
void HideColours(std::size_t count, std::size_t channels, Extreme extreme, Key* keys) {
  const auto candidates = [=](auto d, std::size_t, auto own)
                              HWY_ATTR { return std::pair(own, hn::Set(d, neutral_key<Key>(extreme))); };
  std::size_t i = SelectVisible(count, channels, candidates, keys, keys);
  for (; i < count; i += channels) hide_colours(keys + i, static_cast<int>(channels), extreme);
}

/// Calls store_extreme() without a mask for pixels of a row with alpha.
template <class Key>
void StoreVisible(const Key* original, std::size_t count, const ExtremeStore& store, Key* keys) {
  const auto candidates = [=](auto d, std::size_t i, auto own) HWY_ATTR {
    auto stored = own;
    if constexpr (std::is_same_v<Key, FloatKey>)
      stored = hn::Xor(own, hn::And(hn::BroadcastSignBit(own), hn::Set(d, 0x7FFFFFFF)));
    return std::pair(stored, hn::LoadU(d, original + i));
  };
  const auto channels = static_cast<std::size_t>(store.channels);
  for (std::size_t i = SelectVisible(count, channels, candidates, keys, keys); i < count; i += channels)
    store_extreme(store, original + i, 1, keys + i);
}

/// Extremes over a window that moves down a series of lines, in three comparisons per key for any window (van
/// Herk, A fast algorithm for local minimum and maximum filters on rectangular and octagonal kernels, 1992;
/// Gil and Werman, Computing 2-D min, median, and max filters, 1993).
///
/// The series is cut into segments of one window each. A window consists of the end of one segment and the
/// beginning of the next: a suffix and a prefix, each an extreme that is scanned within its segment.
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

  void start(std::size_t keys) {
    keys_ = keys;
    position_ = 0;
    taken_ = 0;
    first_segment_ = true;
  }

  /// Where the caller writes the next line before it calls take().
  [[nodiscard]] Key* next_line() { return line(position_); }

  /// Adds the next line. `out`, unless it is null, gets the extremes of the window that ends with this line,
  /// or of all lines so far if they are fewer.
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

  /// Moves the window one line further after the end of the series.
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

  void finish_window(bool whole_segment, Key* out) {
    std::copy_n(prefix_.data(), keys_, out);
    if (!first_segment_ && !whole_segment) JoinLines(extreme_, line(position_ + 1), keys_, out);
  }

  void advance() {
    if (++position_ == window_) begin_segment();
  }

  /// Turns lines into suffixes: line i becomes the extreme from i to the end of its segment.
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
  std::size_t position_ = 0;  ///< line in the segment
  std::size_t taken_ = 0;     ///< number of lines that the segment has
  bool first_segment_ = true;
  WorkspaceVector<Key>
      segment_;  ///< lines of this segment up to position_, then suffixes of the segment before
  WorkspaceVector<Key> prefix_;
};

// Bytes of lines that one thread keeps, chosen to stay in its second-level cache.
constexpr std::size_t most_row_bytes = std::size_t{3} << 18;
constexpr std::size_t column_bytes = std::size_t{1} << 18;
constexpr std::size_t least_row_bytes = 256;
/// Keys of a picture below which one thread ends before another one wakes.
constexpr std::int64_t least_shared_keys = 30000;

/// Extremes along one row, by windows joined from up to four windows of a quarter of the size.
template <class Key>
class RowExtremes {
 public:
  explicit RowExtremes(const SlidingExtremeJob& job)
      : job_(job),
        channels_(static_cast<std::size_t>(job.channels)),
        reach_(needed_reach(job, job.reach_x, job.width)),
        line_(static_cast<std::size_t>(job.width + 2 * reach_) * channels_ + slack,
              neutral_key<Key>(job.extreme)) {}

  [[nodiscard]] std::size_t bytes() const noexcept { return line_.size() * sizeof(Key); }

  void run(const ImageView& source, std::int64_t y, Key* out) {
    read(source, y);
    const std::int64_t window = 2 * reach_ + 1;
    if (window == 1) std::copy_n(line_.begin(), line_.size() - slack, out);
    for (std::int64_t size = 1; size < window;) {
      const std::int64_t joined = joined_size(size, window);
      const bool last = joined == window;
      // Windows outside the picture stay neutral; the first that holds a pixel begins here.
      const std::int64_t first = wraps(job_) || last ? 0 : std::max<std::int64_t>(reach_ - (joined - 1), 0);
      const std::int64_t end = wraps(job_) || last
                                   ? job_.width + window - joined
                                   : std::min(job_.width + window - joined, reach_ + job_.width);
      Key* from = line_.data() + static_cast<std::size_t>(first) * channels_;
      JoinWindows(job_.extreme, from, windows_of(size, joined),
                  static_cast<std::size_t>(end - first) * channels_, last ? out : from);
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
    if (job_.weighted) HideColours(keys, channels_, job_.extreme, row);
    if (wraps(job_)) {
      std::copy_n(row + keys - pad, pad, line_.data());
      std::copy_n(row, pad, row + keys);
    } else {
      std::fill_n(line_.data(), pad,
                  neutral_key<Key>(job_.extreme));  // those after the row are still neutral
    }
  }

  [[nodiscard]] JoinedWindows windows_of(std::int64_t size, std::int64_t joined) const {
    JoinedWindows windows;
    windows.count = static_cast<int>((joined + size - 1) / size);
    for (int i = 0; i < windows.count; ++i)
      windows.offset[i] = static_cast<std::size_t>(std::min(i * size, joined - size)) * channels_;
    return windows;
  }

  static constexpr std::size_t slack = hn::MaxLanes(hn::ScalableTag<Key>());  ///< keys past the end

  SlidingExtremeJob job_;
  std::size_t channels_;
  std::int64_t reach_;
  WorkspaceVector<Key> line_;  ///< the row, and what its windows see beyond its ends
};

template <class Key>
struct ExtremeBuffers {
  RowExtremes<Key> rows;
  SlidingLines<Key> lines;
  WorkspaceVector<Key> beginning;  ///< first rows of a tile that wraps, which its last windows see, too
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
      buffers_.push_back({RowExtremes<Key>(job),
                          SlidingLines<Key>(job.extreme, window_, most_lines, tile_keys),
                          WorkspaceVector<Key>(beginning)});
    if (job.border == Border::constant)
      for (std::int64_t i = 0; i < job.width * job.channels; ++i)
        outside_.push_back(static_cast<Key>(job.border_keys[static_cast<std::size_t>(i % job.channels)]));
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    std::size_t bytes = outside_.size() * sizeof(Key);
    for (const ExtremeBuffers<Key>& buffers : buffers_)
      bytes += buffers.rows.bytes() + buffers.lines.bytes() + buffers.beginning.size() * sizeof(Key);
    return bytes;
  }

  void run(const SlidingExtremeImages& images, Stream) override {
    if (in_rows_) return run_rows(images);
    backend_.threads.for_rows(job_.height, 16, [&](std::int64_t first, std::int64_t last, int thread) {
      for (std::int64_t y = first; y < last; ++y)
        buffers_of(thread).rows.run(images.source, y, images.output.template row<Key>(y));
    });
    const std::int64_t tiles = (job_.width + tile_width_ - 1) / tile_width_;
    backend_.threads.for_rows(tiles, 1, [&](std::int64_t first, std::int64_t last, int thread) {
      for (std::int64_t i = first; i < last; ++i)
        run_columns(images, {i * tile_width_, std::min((i + 1) * tile_width_, job_.width)},
                    buffers_of(thread));
    });
  }

 private:
  [[nodiscard]] ExtremeBuffers<Key>& buffers_of(int index) {
    return buffers_[static_cast<std::size_t>(index)];
  }

  [[nodiscard]] std::int64_t column_width(std::size_t lines) const {
    const std::size_t pixel = channels_ * sizeof(Key);
    const std::size_t row = std::max(column_bytes / lines, least_row_bytes);
    return std::min(static_cast<std::int64_t>(row / pixel / 64 * 64 + 64), job_.width);
  }

  /// Filters tiles of whole rows: each row goes straight into the scans down the columns.
  void run_rows(const SlidingExtremeImages& images) {
    const std::int64_t threads = backend_.threads.count();
    const bool alone = job_.width * job_.height * job_.channels < least_shared_keys;
    const std::int64_t grain = std::max((job_.height + 4 * threads - 1) / (4 * threads), 16 * reach_);
    const std::int64_t most = (job_.height + threads - 1) / threads;
    backend_.threads.for_rows(
        job_.height, alone ? job_.height : std::min(grain, most),
        [&](std::int64_t first, std::int64_t last, int index) {
          ExtremeBuffers<Key>& buffers = buffers_of(index);
          slide(images, {0, job_.width}, first, last, buffers.lines, [&](std::int64_t position, Key* line) {
            buffers.rows.run(images.source, source_of(position, job_.height, job_.border), line);
          });
        });
  }

  /// Filters a tile of columns in place, whose rows have been filtered: a row is overwritten when no window
  /// needs it any more.
  void run_columns(const SlidingExtremeImages& images, Stretch columns, ExtremeBuffers<Key>& buffers) {
    const std::size_t keys = static_cast<std::size_t>(columns.size()) * channels_;
    slide(images, columns, 0, job_.height, buffers.lines, [&](std::int64_t position, Key* line) {
      if (position >= job_.height) {
        std::copy_n(buffers.beginning.data() + static_cast<std::size_t>(position - job_.height) * keys, keys,
                    line);
        return;
      }
      const std::int64_t y = position < 0 ? position + job_.height : position;
      std::copy_n(row_of(images.output, columns, y), keys, line);
      if (wraps(job_) && position >= 0 && position < reach_)
        std::copy_n(line, keys, buffers.beginning.data() + static_cast<std::size_t>(position) * keys);
    });
  }

  template <class Bytes>
  [[nodiscard]] auto* row_of(const Bytes& image, Stretch columns, std::int64_t y) const {
    return image.template row<Key>(y) + static_cast<std::size_t>(columns.first) * channels_;
  }

  /// Filters rows [first, last) of these columns. read(position, line) copies the row at a position of the
  /// extended picture into a line.
  template <class Read>
  void slide(const SlidingExtremeImages& images, Stretch columns, std::int64_t first, std::int64_t last,
             SlidingLines<Key>& lines, const Read& read) {
    const std::int64_t start = wraps(job_) ? first - reach_ : std::max<std::int64_t>(first - reach_, 0);
    lines.start(static_cast<std::size_t>(columns.size()) * channels_);
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

  void finish_row(const SlidingExtremeImages& images, Stretch columns, std::int64_t y, Key* out) const {
    if (!outside_.empty()) meet_outside(columns, y, out);
    const std::int64_t pixels = columns.size();
    if (stores_plainly(job_)) {
      if constexpr (std::is_same_v<Key, FloatKey>)
        std::transform(out, out + pixels * job_.channels, out, [](Key key) { return turn_key(key); });
      return;
    }
    const Key* original = row_of(images.kept(), columns, y);
    if (job_.weighted && job_.mask_maximum == 0)
      return StoreVisible(original, static_cast<std::size_t>(pixels) * channels_, store_, out);
    for (std::int64_t x = 0; x < pixels; ++x)
      store_extreme(store_, original + x * job_.channels, mask_at(images.mask, columns.first + x, y),
                    out + x * job_.channels);
  }

  void meet_outside(Stretch columns, std::int64_t y, Key* out) const {
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
  std::int64_t tile_width_ = 0;
  WorkspaceVector<Key> outside_;
  WorkspaceVector<ExtremeBuffers<Key>> buffers_;  ///< one per thread
};

inline Prepared<SlidingExtremeJob> PrepareSlidingExtreme(Backend& backend, const SlidingExtremeJob& job) {
  return with_key(job.type, [&]<class Key>() -> std::unique_ptr<SlidingExtremeOperation> {
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

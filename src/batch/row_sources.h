#pragma once
// Rows on their way from a file through a pipeline to a file, changed as whole pictures are changed.

#include <cstdint>
#include <string>
#include <vector>

#include "satin/image.h"
#include "satin/pipeline.h"
#include "satin/rows.h"
#include "satin/tone_curves.h"

namespace satin::batch {

/// Rows that are made of those of another source, which outlives the object and has no other reader.
class ChangedRows : public RowSource {
 public:
  [[nodiscard]] const Shape& shape() const noexcept override { return shape_; }
  void rewind() override { source_.rewind(); }
  void read(const MutableImageView& rows) override;

 protected:
  /// `shape` is that of the source but for the pixels.
  ChangedRows(RowSource& source, const Shape& shape) : source_(source), shape_(shape) {}

 private:
  /// Makes as many rows of those of the source, which are dense.
  virtual void change(const ImageView& from, const MutableImageView& to) const = 0;

  RowSource& source_;
  Shape shape_;
  Image part_{};  ///< some rows of the source
};

/// Codes as f32 in the linear light of their curves.
class LinearRows final : public ChangedRows {
 public:
  LinearRows(RowSource& source, ToneCurves curves);

 private:
  void change(const ImageView& from, const MutableImageView& to) const override;

  ToneCurves curves_;
};

/// Linear light as codes again, by the same curves.
class EncodedRows final : public ChangedRows {
 public:
  EncodedRows(RowSource& source, ToneCurves curves);

 private:
  void change(const ImageView& from, const MutableImageView& to) const override;

  ToneCurves curves_;
};

/// Whether any pixel is not opaque. Reads all rows of a picture with alpha, and rewinds.
[[nodiscard]] bool is_transparent(RowSource& source);

/// A map or mask of several channels as its alpha, or as its first channel: reading then throws Error(usage)
/// with this message where the colours differ.
class OneChannel final : public ChangedRows {
 public:
  OneChannel(RowSource& source, bool alpha, std::string refusal);

 private:
  void change(const ImageView& from, const MutableImageView& to) const override;

  bool alpha_;
  std::string refusal_;
};

/// The rows of a pipeline, which is checked before the last ones are given, so that no file of wrong ones is
/// finished.
class CheckedRows final : public RowSource {
 public:
  /// `pipeline` must outlive the object.
  explicit CheckedRows(RowPipeline& pipeline) : pipeline_(pipeline) {}

  [[nodiscard]] const Shape& shape() const noexcept override { return pipeline_.shape(); }
  void rewind() override;
  void read(const MutableImageView& rows) override;

  /// The warnings of RowPipeline::check(), which are there once all rows have been read.
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return warnings_; }

 private:
  RowPipeline& pipeline_;
  std::int64_t next_ = 0;
  std::vector<std::string> warnings_;
};

/// The shape of a picture without the picture, to plan by. Reading it is an error of the program.
class ShapeAlone final : public RowSource {
 public:
  explicit ShapeAlone(const Shape& shape) : shape_(shape) {}

  [[nodiscard]] const Shape& shape() const noexcept override { return shape_; }
  void rewind() override {}
  void read(const MutableImageView& rows) override;

 private:
  Shape shape_;
};

}  // namespace satin::batch

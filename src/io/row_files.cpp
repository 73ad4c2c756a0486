// Files that are read and written row by row (satin/row_files.h).

#include "satin/row_files.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "io/codec_steps.h"
#include "io/file.h"
#include "io/file_pictures.h"
#include "metadata/colour_profile.h"
#include "satin/error.h"
#include "satin/io.h"
#include "satin/new_file.h"

namespace satin {
namespace {

using io::Codec;

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& reason) {
  throw Error(ErrorKind::usage, printable(path.native()) + ": " + reason);
}

/// Returns the codec that writes rows under this extension. Throws Error(usage).
const Codec& row_writer(const std::filesystem::path& path) {
  std::vector<std::string> words;
  const std::string extension = io::lower(path.extension().string());
  for (const Codec& codec : io::codecs()) {
    if (std::ranges::find(codec.extensions, extension) != codec.extensions.end() &&
        codec.write_rows != nullptr)
      return codec;
    if (codec.write_rows != nullptr)
      words.insert(words.end(), codec.extensions.begin(), codec.extensions.end());
  }
  if (words.empty())
    refuse(
        path,
        "this build of Satin has no TIFF, the only format that is written row by row. Build it with libtiff "
        "and SATIN_CODECS=FULL.");
  refuse(path, "only TIFF files are written row by row. Use " + io::one_of(words) + ".");
}

/// Throws Error(usage) unless the rows have width and pixels of `shape`, and at most `left` are requested.
void check_rows(const MutableImageView& rows, const Shape& shape, std::int64_t left) {
  const Shape& asked = rows.shape;
  if (asked.width != shape.width || asked.channels != shape.channels || asked.type != shape.type ||
      asked.frames != 1 || rows.memory != Memory::host || !rows.interleaved())
    throw Error(ErrorKind::usage, "rows of " + describe(shape) + " cannot be read into " + describe(asked) +
                                      ". Give interleaved rows of the same pixels in host memory.");
  if (asked.height > left)
    throw Error(ErrorKind::usage, std::to_string(asked.height) + " rows were asked for, and " +
                                      std::to_string(left) + " are left. Ask for fewer, or rewind.");
}

/// A reader with its current row.
class RowsOfFile final : public FileRows {
 public:
  RowsOfFile(const std::filesystem::path& path, const ReadOptions& options) : file_(path) {
    io::named(file_.name(), [&] { open(io::lower(path.extension().string()), options); });
  }

  [[nodiscard]] const Shape& shape() const noexcept override { return reader_->shape; }
  void rewind() override { next_ = 0; }
  void read(const MutableImageView& rows) override {
    io::named(file_.name(), [&] {
      check_rows(rows, shape(), shape().height - next_);
      reader_->read(next_, rows);
    });
    next_ += rows.shape.height;
  }
  [[nodiscard]] const Metadata& metadata() const noexcept override { return reader_->metadata; }
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept override {
    return reader_->warnings;
  }

 private:
  void open(const std::string& extension, const ReadOptions& options) {
    const io::MappedFile mapped(file_);
    const Codec& codec = io::codec_for(mapped.bytes(), extension);
    if (codec.open_rows == nullptr)
      throw Error(ErrorKind::usage,
                  std::string(codec.name) +
                      " files are read only as a whole, not row by row. Leave out --stream, or convert the "
                      "file to " +
                      io::one_of_codecs([](const Codec& each) { return each.open_rows != nullptr; }) +
                      " first.");
    ReadOptions choice = options;
    choice.limits = io::without_bytes(options.limits);
    const io::FilePicture picture = io::chosen_picture(codec, mapped.bytes(), choice);
    reader_ = codec.open_rows(file_, mapped.bytes(), picture, options);
    io::warn_left_out(picture, reader_->warnings);
    const Shape& shape = reader_->shape;
    io::describe_upright(reader_->metadata, shape,
                         Framing::whole(static_cast<double>(shape.width), static_cast<double>(shape.height)),
                         reader_->warnings);
  }

  io::InputFile file_;
  std::unique_ptr<io::RowReader> reader_;
  std::int64_t next_ = 0;
};

}  // namespace

std::unique_ptr<FileRows> open_rows(const std::filesystem::path& path, const ReadOptions& options) {
  return std::make_unique<RowsOfFile>(path, options);
}

ImageRows::ImageRows(const ImageView& picture) : picture_(picture) {
  validate(picture.shape);
  if (picture.empty() || picture.shape.frames != 1 || picture.memory != Memory::host ||
      !picture.interleaved())
    throw Error(ErrorKind::usage,
                "rows are read from one interleaved picture in host memory. Copy it there first.");
}

void ImageRows::read(const MutableImageView& rows) {
  check_rows(rows, picture_.shape, picture_.shape.height - next_);
  const auto bytes = static_cast<std::size_t>(picture_.shape.width * picture_.strides.pixel);
  for (std::int64_t y = 0; y < rows.shape.height; ++y)
    std::memcpy(rows.at(0, y), picture_.at(0, next_ + y), bytes);
  next_ += rows.shape.height;
}

void check_rows_writable(const std::filesystem::path& path, const Shape& shape,
                         const RowWriteOptions& options) {
  if (io::is_standard_stream(path))
    refuse(path, "rows are not written to standard output. Give the name of a .tiff file.");
  static_cast<void>(row_writer(path));
  if (std::error_code error; std::filesystem::exists(path, error) &&
                             !std::filesystem::is_regular_file(path, error) &&
                             !std::filesystem::is_directory(path, error))
    refuse(path, "it is not a file, and rows are written only to files. Give the name of a file.");
  WriteOptions whole;
  whole.overwrite = options.overwrite;
  check_writable(path, shape, whole);
  if (options.pyramid && shape.type != Type::u8 && shape.type != Type::u16 && shape.type != Type::f32)
    refuse(path, std::string("a pyramid is made of u8, u16 or f32, not of ") + name_of(shape.type) +
                     ". Leave it out (--pyramid).");
}

void write_rows(const std::filesystem::path& path, RowSource& rows, const RowWriteOptions& options) {
  check_rows_writable(path, rows.shape(), options);
  RowWriteOptions own = options;
  if (!io::describes(own.metadata.icc, rows.shape().channels)) own.metadata.icc.clear();
  rows.rewind();
  NewFile file(path, options.overwrite);
  try {
    row_writer(path).write_rows(file, rows, own);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::environment,
                printable(path.native()) + ": there is not enough memory for rows of tiles of " +
                    std::to_string(rows.shape().width) + " pixels. Cut the picture into narrower ones.");
  }
  file.finish(options.modified, options.before_rename);
}

}  // namespace satin

#include "tests/io/coded_jpeg.h"

#include "tests/io/jpeg_in_memory.h"

namespace satin::test {

FileBytes coded_jpeg(const Image& image, const JpegSettings& settings) {
  JpegInMemory jpeg;
  jpeg_compress_struct& info = jpeg.info;
  const Shape& shape = image.shape();
  info.image_width = static_cast<JDIMENSION>(shape.width);
  info.image_height = static_cast<JDIMENSION>(shape.height);
  info.input_components = shape.channels;
  info.in_color_space = shape.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, settings.quality, TRUE);
  info.comp_info[0].h_samp_factor = settings.horizontal;
  info.comp_info[0].v_samp_factor = settings.vertical;
  info.restart_interval = settings.restart;
  if (settings.progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    auto* row =
        const_cast<JSAMPROW>(reinterpret_cast<const JSAMPLE*>(image.view().at(0, info.next_scanline)));
    jpeg_write_scanlines(&info, &row, 1);
  }
  return jpeg.finish();
}

}  // namespace satin::test

#include "tests/io/cmyk_jpeg.h"

#include "tests/io/jpeg_in_memory.h"

namespace satin::test {

FileBytes cmyk_jpeg(const unsigned char (&values)[4], bool adobe, J_COLOR_SPACE stored,
                    const std::vector<unsigned char>& profile) {
  JpegInMemory jpeg;
  jpeg_compress_struct& info = jpeg.info;
  info.image_width = info.image_height = 16;
  info.input_components = 4;
  info.in_color_space = JCS_CMYK;
  jpeg_set_defaults(&info);
  jpeg_set_colorspace(&info, stored);
  jpeg_set_quality(&info, 100, TRUE);
  info.write_Adobe_marker = adobe ? TRUE : FALSE;
  jpeg_start_compress(&info, TRUE);
  if (!profile.empty()) jpeg_write_icc_profile(&info, profile.data(), static_cast<unsigned>(profile.size()));
  std::vector<unsigned char> row;
  for (int x = 0; x < 16; ++x) row.insert(row.end(), values, values + 4);
  while (info.next_scanline < info.image_height) {
    JSAMPROW pointer = row.data();
    jpeg_write_scanlines(&info, &pointer, 1);
  }
  return jpeg.finish();
}

}  // namespace satin::test

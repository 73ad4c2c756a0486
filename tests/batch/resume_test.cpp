#include "batch/manifest.h"

#include <gtest/gtest.h>

#include "satin/error.h"

namespace satin::test {
namespace {

Batch one_picture(JpegDecoder decoder) {
  Batch work;
  work.files.add("picture.jpg");
  work.pipeline = parse_pipeline("blur radius=2");
  work.options.output = "out.jpg";
  work.options.jpeg_decoder = decoder;
  return work;
}

std::uint64_t work_of(const Batch& work) { return batch::made_now(work, 0, work.file(0)).work; }

TEST(Resume, TheDecoderOfJpegIsPartOfTheWork) {
  const std::uint64_t usual = work_of(one_picture(JpegDecoder::libjpeg));
  EXPECT_EQ(work_of(one_picture(JpegDecoder::libjpeg)), usual);
  EXPECT_NE(work_of(one_picture(JpegDecoder::nvjpeg)), usual);
}

TEST(JpegDecoders, NeedAGpu) {
  const Device cpu = Device::open("cpu");
  try {
    static_cast<void>(run_batch(cpu, one_picture(JpegDecoder::nvjpeg)));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find("--device cuda:N"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace satin::test

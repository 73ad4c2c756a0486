// CMYK JPEG files become RGB by their profile. The test makes a profile: grey of lightness 100 (1 - K)
// whatever the other inks, so that using it and ignoring it give different pixels.

#include <lcms2.h>

#include <cmath>

#include "tests/io/cmyk_jpeg.h"
#include "tests/io/support.h"

namespace satin::test {
namespace {

cmsInt32Number lightness_of_black(const cmsUInt16Number in[], cmsUInt16Number out[], void*) {
  // Lab of ICC version 2: lightness 100 is 0xFF00, a neutral 0x8000.
  out[0] = static_cast<cmsUInt16Number>((65535U - in[3]) * 0xFF00U / 0xFFFFU);
  out[1] = out[2] = 0x8000;
  return TRUE;
}

std::vector<unsigned char> profile_of_black() {
  const cmsHPROFILE profile = cmsCreateProfilePlaceholder(nullptr);
  cmsSetProfileVersion(profile, 2.1);
  cmsSetDeviceClass(profile, cmsSigOutputClass);
  cmsSetColorSpace(profile, cmsSigCmykData);
  cmsSetPCS(profile, cmsSigLabData);
  cmsPipeline* pipeline = cmsPipelineAlloc(nullptr, 4, 3);
  cmsStage* table = cmsStageAllocCLut16bit(nullptr, 9, 4, 3, nullptr);
  cmsStageSampleCLut16bit(table, lightness_of_black, nullptr, 0);
  cmsPipelineInsertStage(pipeline, cmsAT_BEGIN, table);
  cmsWriteTag(profile, cmsSigAToB0Tag, pipeline);
  cmsWriteTag(profile, cmsSigAToB1Tag, pipeline);
  cmsPipelineFree(pipeline);
  cmsUInt32Number size = 0;
  cmsSaveProfileToMem(profile, nullptr, &size);
  std::vector<unsigned char> bytes(size);
  cmsSaveProfileToMem(profile, bytes.data(), &size);
  cmsCloseProfile(profile);
  return bytes;
}

/// Returns the sRGB code of a neutral colour of this CIE lightness.
double code_of(double lightness) {
  const double y = lightness > 8 ? std::pow((lightness + 16) / 116, 3) : lightness / 903.3;
  return 255 * (y <= 0.0031308 ? 12.92 * y : 1.055 * std::pow(y, 1 / 2.4) - 0.055);
}

TEST(Inks, TheProfileOfTheFileDecides) {
  const std::vector<unsigned char> profile = profile_of_black();
  for (const int black : {0, 64, 128, 200, 255}) {
    const auto amount = static_cast<unsigned char>(black);
    const auto reflectance = static_cast<unsigned char>(255 - black);
    const FileBytes files[] = {cmyk_jpeg({200, 10, 90, amount}, false, JCS_CMYK, profile),
                               cmyk_jpeg({55, 245, 165, reflectance}, true, JCS_CMYK, profile),
                               cmyk_jpeg({55, 245, 165, reflectance}, true, JCS_YCCK, profile)};
    for (const FileBytes& file : files) {
      const Picture picture = decode_picture(file, "x.jpg");
      EXPECT_TRUE(picture.warnings.empty());
      EXPECT_TRUE(picture.metadata.icc.empty());  // the pixels are sRGB now
      for (int c = 0; c < 3; ++c)
        EXPECT_NEAR(picture.image.view().value<std::uint8_t>(7, 7, c), code_of(100.0 * (255 - black) / 255),
                    2.5)
            << black << " channel " << c;
    }
  }
}

TEST(Inks, WithoutAProfileAWarningNamesThePlainConversion) {
  const Picture picture = decode_picture(cmyk_jpeg({55, 155, 205, 127}, false, JCS_CMYK, {0}), "x.jpg");
  ASSERT_EQ(picture.warnings.size(), 1U);
  EXPECT_NE(picture.warnings[0].find("plain"), std::string::npos);
  EXPECT_NEAR(picture.image.view().value<std::uint8_t>(7, 7, 0), 100, 2);
}

}  // namespace
}  // namespace satin::test

// Who may include whom: the rules of the design, over the source tree.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

namespace satin::test {
namespace {

namespace fs = std::filesystem;

const fs::path root = SATIN_SOURCE_DIR;

bool is_device_code(const fs::path& path) { return path.extension() == ".cu" || path.extension() == ".cuh"; }

bool is_source(const fs::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".h" || extension == ".cpp" || is_device_code(path);
}

struct Source {
  std::string name;  ///< from the root: "src/core/plan.cpp"
  std::string text;
  std::vector<std::string> quoted;  ///< #include "..."
  std::vector<std::string> angled;  ///< #include <...>
};

Source read_source(const fs::path& path) {
  Source source;
  source.name = fs::relative(path, root).generic_string();
  std::ifstream file(path);
  static const std::regex include(R"(^\s*#\s*include\s*(["<])([^">]+)[">])");
  for (std::string line; std::getline(file, line); source.text += line + '\n')
    if (std::smatch match; std::regex_search(line, match, include))
      (match[1] == "\"" ? source.quoted : source.angled).push_back(match[2]);
  return source;
}

/// Sources below a folder of the tree; none if it is not there.
std::vector<Source> sources(const std::string& folder) {
  std::vector<Source> result;
  if (!fs::exists(root / folder)) return result;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder))
    if (entry.is_regular_file() && is_source(entry.path())) result.push_back(read_source(entry.path()));
  return result;
}

bool starts_with_any(const std::string& text, const std::vector<std::string>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const std::string& prefix) { return text.starts_with(prefix); });
}

/// A header of the folder that the source itself lies in, or below it, named from there.
bool is_own(const Source& source, const std::string& include) {
  return fs::exists((root / source.name).parent_path() / include);
}

void expect_only(const std::vector<Source>& list, const std::vector<std::string>& allowed) {
  for (const Source& source : list)
    for (const std::string& include : source.quoted)
      EXPECT_TRUE(starts_with_any(include, allowed) || is_own(source, include))
          << source.name << " includes " << include;
}

void expect_none(const std::vector<Source>& list, const std::vector<std::string>& forbidden) {
  for (const Source& source : list)
    for (const std::string& include : source.quoted)
      EXPECT_FALSE(starts_with_any(include, forbidden)) << source.name << " includes " << include;
}

TEST(Includes, TheTreeIsThere) {
  EXPECT_GT(sources("src/core").size(), 20U);
  EXPECT_GT(sources("src/satin").size(), 8U);
  const std::vector<Source> image = sources("src/satin");
  EXPECT_TRUE(std::any_of(image.begin(), image.end(), [](const Source& source) {
    return source.name == "src/satin/image.h" && !source.angled.empty();
  }));
}

TEST(Includes, PublicHeadersIncludePublicHeaders) { expect_only(sources("src/satin"), {"satin/"}); }

/// Those that a program includes because it has the library they are for.
bool is_opt_in(const Source& source) {
  return starts_with_any(source.name, {"src/satin/cuda/", "src/satin/opencv.h", "src/satin/dlpack.h"});
}

TEST(Includes, PublicHeadersDoNotNameCudaNorOpenCv) {
  const std::regex named(
      R"(cuda_runtime|__CUDACC__|\bcv::|\bDL(Managed)?Tensor\b|<(opencv|dlpack|cuda|cub)[/_0-9])");
  int opt_in = 0;
  for (const Source& source : sources("src/satin")) {
    EXPECT_EQ(std::regex_search(source.text, named), is_opt_in(source)) << source.name;
    opt_in += is_opt_in(source) ? 1 : 0;
    for (const std::string& include : source.quoted)
      if (!is_opt_in(source)) {
        EXPECT_FALSE(starts_with_any(include, {"satin/cuda/", "satin/opencv.h", "satin/dlpack.h"}))
            << source.name << " includes " << include;
      }
  }
  EXPECT_EQ(opt_in, 4);
}

TEST(Includes, MathsStandOnTheirOwn) {
  expect_only(sources("src/core/maths"),
              {"core/maths/", "satin/view.h", "satin/border.h", "satin/error.h", "satin/param.h"});
}

TEST(Includes, OperationsKnowNoBackend) {
  expect_only(
      sources("src/core/operations"),
      {"core/operations/", "core/maths/", "satin/view.h", "satin/stream.h", "satin/border.h", "satin/error.h",
       "satin/param.h", "satin/pixel_box.h", "satin/array.h", "satin/scan.h", "satin/lens_style.h"});
}

TEST(Includes, FiltersComposeOperations) {
  expect_none(sources("src/core/filters"), {"core/cpu/", "core/cuda/", "kernels/", "io/", "batch/", "app/",
                                            "satin/io.h", "satin/batch.h", "satin/cuda/"});
}

TEST(Includes, OnlyBackendsNameTheirFolders) {
  for (const Source& source : sources("src")) {
    for (const std::string& include : source.quoted) {
      if (include.starts_with("core/cpu/")) {
        EXPECT_TRUE(source.name.starts_with("src/core/cpu/")) << source.name << " includes " << include;
      }
      if (include.starts_with("core/cuda/") || include.starts_with("kernels/")) {
        EXPECT_TRUE(source.name.starts_with("src/core/cuda/")) << source.name << " includes " << include;
      }
    }
  }
}

TEST(Includes, TheCoreNeedsNoCodec) {
  expect_none(sources("src/core"), {"io/", "batch/", "app/", "satin/io.h", "satin/batch.h"});
  for (const Source& source : sources("src/core"))
    for (const std::string& include : source.angled)
      EXPECT_FALSE(
          starts_with_any(include, {"opencv2/", "jpeglib", "turbojpeg", "png.h", "tiff", "OpenEXR/", "stb"}))
          << source.name << " includes " << include;
}

TEST(Includes, FilesAndBatchesSeeNoInsides) {
  expect_only(sources("src/io"), {"satin/", "io/"});
  expect_only(sources("src/batch"), {"satin/", "batch/"});
}

TEST(Includes, FrontEndsUsePublicHeadersAlone) {
  expect_only(sources("src/app"), {"satin/", "app/"});
  expect_only(sources("src/python"), {"satin/", "python/"});
  expect_only(sources("samples"), {"satin/"});
}

TEST(Includes, KernelsSeeMathsAndPlainDescriptions) {
  expect_only(sources("kernels"), {"kernels/", "core/maths/", "core/operations/", "satin/border.h",
                                   "satin/view.h", "satin/array.h", "satin/scan.h", "satin/cuda/"});
}

TEST(Includes, OnlyDeviceFilesHoldDeviceSyntax) {
  const std::regex syntax(R"(\b__(global|device|shared|constant)__\b|<<<)");
  for (const char* folder : {"src", "kernels", "samples"})
    for (const Source& source : sources(folder)) {
      const bool exempt = is_device_code(source.name) || source.name == "src/core/maths/hd.h";
      if (exempt) continue;
      EXPECT_FALSE(std::regex_search(source.text, syntax)) << source.name;
    }
}

TEST(Includes, NoFileIsNamedAfterNothing) {
  const std::regex vague(R"((^|[_/])(helpers?|utils?|misc|common|stuff)(\.|_|$))");
  for (const char* folder : {"src", "kernels", "samples", "tests"})
    for (const Source& source : sources(folder))
      EXPECT_FALSE(std::regex_search(source.name, vague)) << source.name;
}

}  // namespace
}  // namespace satin::test

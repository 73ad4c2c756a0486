// Which folder may include which: one table, checked against every include of the tree.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace satin::test {
namespace {

namespace fs = std::filesystem;

const fs::path root = SATIN_SOURCE_DIR;

/// A folder of src, and the folders whose headers it may include besides its own. Every folder comes after
/// those that it may include, so there is no cycle. See allowed() for the rules inside a topic.
struct Folder {
  std::string name;
  std::vector<std::string> below;
};

const std::vector<Folder>& folders() {
  static const std::vector<Folder> list = {
      {"satin", {}},
      {"core", {"satin"}},
      {"pixels", {"satin", "core"}},
      {"scan", {"satin", "core"}},
      {"tables", {"core", "pixels"}},
      {"means", {"satin", "core", "pixels", "tables"}},
      {"statistics", {"satin", "core", "pixels", "tables", "means"}},
      {"extremes", {"satin", "core", "pixels"}},
      {"order", {"satin", "core", "pixels", "extremes"}},
      {"recursive", {"core", "pixels"}},
      {"resample", {"satin", "core", "pixels"}},
      {"guided", {"satin", "core", "pixels", "tables", "means", "statistics"}},
      {"masks", {"satin", "core", "pixels", "scan", "tables", "means"}},
      {"depth", {"satin", "core", "pixels", "tables", "order"}},
      {"lens", {"satin", "core", "pixels", "tables", "means", "depth"}},
      {"lobes", {"satin", "core", "pixels", "tables", "means"}},
      {"light", {"satin", "core", "pixels"}},
      {"filters",
       {"satin", "core", "pixels", "tables", "means", "statistics", "extremes", "order", "recursive",
        "resample", "guided", "masks", "depth", "lens", "lobes"}},
      {"backends",
       {"satin", "core", "pixels", "scan", "tables", "means", "statistics", "extremes", "order", "recursive",
        "resample", "guided", "masks", "depth", "lens", "lobes", "light"}},
      {"pipeline", {"satin", "core"}},
      {"metadata", {"satin"}},
      {"io", {"satin", "metadata"}},
      {"models", {"satin", "io"}},
      {"batch", {"satin"}},
      {"view", {"satin", "io", "batch"}},
      {"app", {"satin", "view"}},
      {"python", {"satin"}},
      {"hosts", {"satin"}},
  };
  return list;
}

const Folder* folder_of(const std::string& name) {
  const auto found =
      std::find_if(folders().begin(), folders().end(), [&](const Folder& f) { return f.name == name; });
  return found == folders().end() ? nullptr : &*found;
}

bool is_device_code(const fs::path& path) { return path.extension() == ".cu" || path.extension() == ".cuh"; }

bool is_source(const fs::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".h" || extension == ".cpp" || is_device_code(path);
}

struct Source {
  std::string name;  ///< from the root: "src/core/plan.cpp"
  std::string text;
  std::int64_t lines = 0;
  std::vector<std::string> quoted;  ///< #include "..."
  std::vector<std::string> angled;  ///< #include <...>
};

Source read_source(const fs::path& path) {
  Source source;
  source.name = fs::relative(path, root).generic_string();
  std::ifstream file(path);
  static const std::regex include(R"(^\s*#\s*include\s*(["<])([^">]+)[">])");
  for (std::string line; std::getline(file, line); source.text += line + '\n', ++source.lines)
    if (std::smatch match; std::regex_search(line, match, include))
      (match[1] == "\"" ? source.quoted : source.angled).push_back(match[2]);
  return source;
}

/// Returns the sources below a folder of the tree; none if it does not exist.
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

/// Splits a path at its slashes.
std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts;
  for (const fs::path& part : fs::path(path)) parts.push_back(part.string());
  return parts;
}

/// The location of a file: its topic, and its folder in the topic (room).
struct Place {
  bool kernel = false;
  std::string topic;  ///< folder of src or of kernels
  std::string room;   ///< maths, cpu, cuda or another folder of the topic; empty: its root

  [[nodiscard]] bool backend() const { return topic != "satin" && (room == "cpu" || room == "cuda"); }
};

/// Returns the location of a path as in an include: relative to src, or "kernels/...".
Place place_of(const std::string& path) {
  std::vector<std::string> parts = parts_of(path);
  Place place;
  if (parts.front() == "kernels") {
    place.kernel = true;
    parts.erase(parts.begin());
  }
  if (parts.size() > 1) place.topic = parts[0];
  if (parts.size() > 2) place.room = parts[1];
  return place;
}

bool may_include(const std::string& from, const std::string& to) {
  const Folder* folder = folder_of(from);
  return folder != nullptr && (from == to || std::count(folder->below.begin(), folder->below.end(), to) != 0);
}

/// The rules inside topics: maths include only maths; operations include no backend; backends do not include
/// each other; kernels include no backend.
bool allowed(const Place& from, const Place& to) {
  if (to.kernel) {
    if (to.topic == "device") return from.kernel || from.room == "cuda";
    if (!from.kernel && from.room != "cuda") return false;
    return may_include(from.topic, to.topic);
  }
  if (from.kernel)
    return !to.backend() && (from.topic == "device" ? to.topic == "core" : may_include(from.topic, to.topic));
  if (!may_include(from.topic, to.topic)) return false;
  if (to.backend()) return from.room == to.room || from.topic == "backends";
  if (from.room == "maths" && to.topic != "satin") return to.room == "maths";
  return true;
}

TEST(Includes, TheTreeIsFound) {
  EXPECT_GT(sources("src/core").size(), 20U);
  EXPECT_GT(sources("src/satin").size(), 8U);
  const std::vector<Source> image = sources("src/satin");
  EXPECT_TRUE(std::any_of(image.begin(), image.end(), [](const Source& source) {
    return source.name == "src/satin/image.h" && !source.angled.empty();
  }));
}

TEST(Includes, TheTableHasNoCycle) {
  std::set<std::string> before;
  for (const Folder& folder : folders()) {
    for (const std::string& name : folder.below)
      EXPECT_TRUE(before.contains(name)) << folder.name << ", " << name;
    before.insert(folder.name);
  }
}

TEST(Includes, AreFullPathsThatTheTableAllows) {
  for (const char* folder : {"src", "kernels"})
    for (const Source& source : sources(folder)) {
      const Place from = place_of(source.name.starts_with("src/") ? source.name.substr(4) : source.name);
      for (const std::string& include : source.quoted) {
        const bool there = fs::exists(root / "src" / include) ||
                           (include.starts_with("kernels/") && fs::exists(root / include));
        ASSERT_TRUE(there) << source.name << " includes " << include << ", which is no full path";
        EXPECT_TRUE(allowed(from, place_of(include))) << source.name << " includes " << include;
      }
    }
}

TEST(Includes, EveryEntryOfTheTableIsUsed) {
  std::map<std::string, std::set<std::string>> used;
  for (const char* folder : {"src", "kernels"})
    for (const Source& source : sources(folder)) {
      const Place from = place_of(source.name.starts_with("src/") ? source.name.substr(4) : source.name);
      for (const std::string& include : source.quoted) used[from.topic].insert(place_of(include).topic);
    }
  for (const Folder& folder : folders())
    for (const std::string& name : folder.below)
      EXPECT_TRUE(used[folder.name].contains(name)) << folder.name << " -> " << name;
}

TEST(Includes, NoFolderHoldsMoreThanAShareOfTheCode) {
  std::map<std::string, std::int64_t> lines;
  for (const Source& source : sources("src")) lines[parts_of(source.name)[1]] += source.lines;
  const std::int64_t all =
      std::accumulate(lines.begin(), lines.end(), std::int64_t{0},
                      [](std::int64_t sum, const auto& folder) { return sum + folder.second; });
  for (const auto& [name, count] : lines)
    EXPECT_LE(100 * count, 15 * all) << name << ": " << count << " of " << all;
}

/// Headers that a program includes only if it uses the library that they adapt.
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

TEST(Includes, OnlyFilesAndTheirUsersReadFiles) {
  for (const Source& source : sources("src")) {
    const std::string folder = parts_of(source.name)[1];
    for (const std::string& include : source.angled)
      EXPECT_TRUE(folder == "view" || !include.starts_with("boost/"))
          << source.name << " includes " << include;
    if (std::set<std::string>{"satin", "metadata", "io", "batch", "view", "app", "python"}.contains(folder))
      continue;
    for (const std::string& include : source.quoted)
      EXPECT_FALSE(starts_with_any(include, {"satin/io.h", "satin/batch.h"}))
          << source.name << " includes " << include;
    for (const std::string& include : source.angled)
      EXPECT_FALSE(
          starts_with_any(include, {"opencv2/", "jpeglib", "turbojpeg", "png.h", "tiff", "OpenEXR/", "stb"}))
          << source.name << " includes " << include;
  }
}

TEST(Includes, SamplesUsePublicHeadersAlone) {
  for (const Source& source : sources("samples"))
    for (const std::string& include : source.quoted)
      EXPECT_TRUE(include.starts_with("satin/") || fs::exists((root / source.name).parent_path() / include))
          << source.name << " includes " << include;
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

// Files that are compiled for each SIMD target share one namespace per target: the linker would merge two
// different types of one name.
TEST(Includes, TypesOfSimdTargetsHaveUniqueNames) {
  const std::regex definition(R"(\n(?:struct|class) (\w+)[^;{]*\{)");
  std::map<std::string, std::string> defined;
  for (const Source& source : sources("src")) {
    if (source.text.find("HWY_BEFORE_NAMESPACE") == std::string::npos) continue;
    for (std::sregex_iterator at(source.text.begin(), source.text.end(), definition), end; at != end; ++at) {
      const auto [known, fresh] = defined.emplace((*at)[1], source.name);
      EXPECT_TRUE(fresh) << (*at)[1] << " in " << known->second << " and " << source.name;
    }
  }
  EXPECT_GT(defined.size(), 30U);
}

// Newer versions of Highway have more targets with AVX-512, which a file that names one of them would miss.
TEST(Includes, OnlyOneFileNamesTargetsWithAvx512) {
  int found = 0;
  for (const Source& source : sources("src")) {
    const bool names_a_target = source.text.find("HWY_AVX3") != std::string::npos;
    EXPECT_EQ(names_a_target, source.name == "src/pixels/cpu/avx512-inl.h") << source.name;
    found += names_a_target;
  }
  EXPECT_EQ(found, 1);
}

TEST(Includes, NoFileHasAVagueName) {
  const std::regex vague(R"((^|[_/])(helpers?|utils?|misc|common|stuff)(\.|_|$))");
  for (const char* folder : {"src", "kernels", "samples", "tests"})
    for (const Source& source : sources(folder))
      EXPECT_FALSE(std::regex_search(source.name, vague)) << source.name;
}

}  // namespace
}  // namespace satin::test

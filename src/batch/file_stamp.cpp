#include "batch/file_stamp.h"

#include <sys/stat.h>

#include <array>
#include <fstream>

#include "batch/names.h"
#include "satin/error.h"

namespace satin::batch {

std::string hexadecimal(std::uint64_t value) {
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[(value >> shift) & 15];
  return text;
}

FileStamp stamp_of(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  constexpr std::int64_t second = 1'000'000'000;
  return {static_cast<std::uint64_t>(status.st_size),
          status.st_mtim.tv_sec * second + status.st_mtim.tv_nsec};
}

std::uint64_t hash_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 65536> piece{};
  Hash hash;
  while (file.read(piece.data(), piece.size()) || file.gcount() > 0)
    hash.add(std::string_view(piece.data(), static_cast<std::size_t>(file.gcount())));
  if (!file.eof())
    throw Error(ErrorKind::input, "The output " + quoted(path) + " cannot be read to check it.");
  return hash.value();
}

}  // namespace satin::batch

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "io/descriptor.h"
#include "io/file.h"
#include "io/support.h"
#include "satin/error.h"

namespace satin::io {
namespace {

constexpr std::size_t first_part = std::size_t{1} << 16;

[[noreturn]] void fail(const std::string& name, const std::string& reason) {
  throw Error(ErrorKind::input, name + ": " + reason);
}

[[noreturn]] void fail_to_open(const std::string& name, int code) {
  if (code == ENOENT || code == ENOTDIR) fail(name, "there is no such file. Check the name and the folder.");
  if (code == EACCES || code == EPERM)
    fail(name, "permission to read it is denied. Check the permissions of the file and its folders.");
  if (code == ELOOP)
    fail(name, "it is a symbolic link that leads nowhere. Give the name of the file itself.");
  if (code == ENAMETOOLONG) fail(name, "the name is too long. Check the name.");
  fail(name, "it cannot be opened: " + error_text(code) + ".");
}

Descriptor open_input(const std::filesystem::path& path, const std::string& name) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) fail_to_open(name, errno);
  return file;
}

/// Reads until `wanted` bytes are there or the data ends; true at the end.
bool read_up_to(int descriptor, FileBytes& bytes, std::size_t wanted, const std::string& name) {
  std::size_t filled = bytes.size();
  bytes.resize(wanted);
  while (filled < wanted) {
    const ssize_t count = ::read(descriptor, bytes.data() + filled, wanted - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(name, "reading failed: " + error_text(errno) + ". Check the disk or the connection.");
    if (count == 0) {
      bytes.resize(filled);
      return true;
    }
    filled += static_cast<std::size_t>(count);
  }
  return false;
}

}  // namespace

bool is_standard_stream(const std::filesystem::path& path) { return path == "-"; }

FileBytes read_file(const std::filesystem::path& path, std::uint64_t limit,
                    const std::function<void(Bytes)>& accept) {
  const bool standard = is_standard_stream(path);
  const std::string name = standard ? "standard input" : path.string();
  if (path.empty()) fail("input", "the name of the file is empty. Give a name.");
  if (standard && ::isatty(STDIN_FILENO) != 0)
    fail(name, "it is a terminal. Pipe or redirect a picture into the command.");
  const Descriptor file = standard ? Descriptor() : open_input(path, name);
  const int descriptor = standard ? STDIN_FILENO : file.get();

  struct stat status {};
  if (::fstat(descriptor, &status) != 0) fail(name, "it cannot be examined: " + error_text(errno) + ".");
  if (S_ISDIR(status.st_mode)) fail(name, "it is a folder, not a picture. Give the name of a file.");
  const std::uint64_t known_size = S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0;
  const auto check_size = [&](std::uint64_t size) {
    if (size > limit)
      fail(name,
           "the file is over the limit of " + std::to_string(limit) + " bytes. Raise it (--max-bytes).");
  };
  check_size(known_size);

  FileBytes bytes;
  bool ended = read_up_to(descriptor, bytes, first_part, name);
  if (bytes.empty()) fail(name, "the file is empty. Get a complete copy of it.");
  accept(bytes);
  // One byte more than the size, so that the end is seen without another round.
  while (!ended) {
    const std::uint64_t next = std::max<std::uint64_t>(known_size + 1, std::uint64_t{bytes.size()} * 2);
    ended = read_up_to(descriptor, bytes, static_cast<std::size_t>(std::min(next, limit + 1)), name);
    check_size(bytes.size());
  }
  return bytes;
}

}  // namespace satin::io

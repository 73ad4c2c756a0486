#include "io/input_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "satin/error.h"

namespace satin::io {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t first_part = std::size_t{1} << 16;

[[noreturn]] void fail_to_read(const std::string& name, const std::string& reason) {
  throw Error(ErrorKind::input, name + ": " + reason);
}

[[noreturn]] void fail_to_open(const std::string& name, int code) {
  if (code == ENOENT || code == ENOTDIR)
    fail_to_read(name, "there is no such file. Check the name and the folder.");
  if (code == EACCES || code == EPERM)
    fail_to_read(name, "permission to read it is denied. Check the permissions of the file and its folders.");
  if (code == ELOOP)
    fail_to_read(name, "it is a symbolic link that leads nowhere. Give the name of the file itself.");
  if (code == ENAMETOOLONG) fail_to_read(name, "the name is too long. Check the name.");
  fail_to_read(name, "it cannot be opened: " + error_text(code) + ".");
}

Descriptor open_input(const fs::path& path, const std::string& name) {
  if (path.empty()) fail_to_read("input", "the name of the file is empty. Give a name.");
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) fail_to_open(name, errno);
  return file;
}

/// Asks the system for size and kind of an open input. Throws for a folder.
struct stat examine(int descriptor, const std::string& name) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0)
    fail_to_read(name, "it cannot be examined: " + error_text(errno) + ".");
  if (S_ISDIR(status.st_mode)) fail_to_read(name, "it is a folder, not a picture. Give the name of a file.");
  return status;
}

std::string failed_to_read(int code) {
  return "reading failed: " + error_text(code) + ". Check the disk or the connection.";
}

constexpr const char* is_empty = "the file is empty. Get a complete copy of it.";

/// Reads until `wanted` bytes are there or the data ends; true at the end.
bool read_up_to(int descriptor, FileBytes& bytes, std::size_t wanted, const std::string& name) {
  std::size_t filled = bytes.size();
  bytes.resize(wanted);
  while (filled < wanted) {
    const ssize_t count = ::read(descriptor, bytes.data() + filled, wanted - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_to_read(name, failed_to_read(errno));
    if (count == 0) {
      bytes.resize(filled);
      return true;
    }
    filled += static_cast<std::size_t>(count);
  }
  return false;
}

}  // namespace

std::string error_text(int code) { return std::generic_category().message(code); }

bool is_standard_stream(const fs::path& path) { return path == "-"; }

std::string name_of_input(const fs::path& path) {
  return is_standard_stream(path) ? "standard input" : printable(path.native());
}

FileBytes read_file(const fs::path& path, std::uint64_t limit, const std::function<bool(Bytes)>& accept) {
  const bool standard = is_standard_stream(path);
  const std::string name = name_of_input(path);
  if (standard && ::isatty(STDIN_FILENO) != 0)
    fail_to_read(name, "it is a terminal. Pipe or redirect a picture into the command.");
  const Descriptor file = standard ? Descriptor() : open_input(path, name);
  const int descriptor = standard ? STDIN_FILENO : file.get();

  const struct stat status = examine(descriptor, name);
  const std::uint64_t known_size = S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0;
  const auto check_size = [&](std::uint64_t size) {
    if (size > limit)
      fail_to_read(
          name, "the file is over the limit of " + std::to_string(limit) + " bytes. Raise it (--max-bytes).");
  };
  check_size(known_size);

  FileBytes bytes;
  bool ended = read_up_to(descriptor, bytes, first_part, name);
  if (bytes.empty()) fail_to_read(name, is_empty);
  if (!accept(bytes)) return bytes;
  // One byte more than the size, so that the end is seen without another round.
  while (!ended) {
    const std::uint64_t next = std::max<std::uint64_t>(known_size + 1, std::uint64_t{bytes.size()} * 2);
    ended = read_up_to(descriptor, bytes, static_cast<std::size_t>(std::min(next, limit + 1)), name);
    check_size(bytes.size());
  }
  return bytes;
}

InputFile::InputFile(const fs::path& path) : name_(name_of_input(path)) {
  if (is_standard_stream(path))
    throw Error(ErrorKind::usage, name_ + ": rows are read from a file. Give the name of one.");
  file_ = open_input(path, name_);
  const struct stat status = examine(file_.get(), name_);
  if (!S_ISREG(status.st_mode))
    throw Error(ErrorKind::usage,
                name_ + ": it is not a file, and rows are read from files alone. Give the name of a file.");
  if (status.st_size == 0) fail_to_read(name_, is_empty);
  size_ = static_cast<std::uint64_t>(status.st_size);
}

std::size_t InputFile::read_some(std::uint64_t at, std::span<std::byte> target, int& code) const noexcept {
  std::size_t filled = 0;
  code = 0;
  while (filled < target.size() && at < size_) {
    const ssize_t count =
        ::pread(file_.get(), target.data() + filled, std::min(target.size() - filled, std::size_t{1} << 30),
                static_cast<off_t>(at + filled));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) code = errno;
    if (count <= 0) break;
    filled += static_cast<std::size_t>(count);
  }
  return filled;
}

void InputFile::read(std::uint64_t at, std::span<std::byte> target, const char* format) const {
  int code = 0;
  if (read_some(at, target, code) == target.size()) return;
  if (code != 0) throw Error(ErrorKind::input, failed_to_read(code));
  truncated(format);
}

MappedFile::MappedFile(const InputFile& file) {
  const auto size = static_cast<std::size_t>(file.size());
  void* const start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
  if (start == MAP_FAILED)
    throw Error(ErrorKind::input,
                "it cannot be mapped to memory: " + error_text(errno) + ". Copy it to a local disk first.");
  bytes_ = {static_cast<const std::byte*>(start), size};
}

MappedFile::~MappedFile() {
  // mmap() gave the memory as writable addresses; nothing was written.
  ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace satin::io

#include "io/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "satin/error.h"
#include "satin/new_file.h"

namespace satin::io {

namespace fs = std::filesystem;

// Inputs.

namespace {

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

/// Returns size and kind of an open input. Throws for a folder.
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

/// Reads until `wanted` bytes are there or the data ends. Returns true at the end.
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
  // Asks for one byte more than the size, so that the end is noticed without another round.
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

// Outputs.

namespace {

[[noreturn]] void refuse(const fs::path& path, const std::string& reason) {
  throw Error(ErrorKind::usage, printable(path.native()) + ": " + reason);
}

[[noreturn]] void fail(const std::string& name, int code) {
  if (code == ENOSPC || code == EDQUOT)
    throw Error(ErrorKind::environment, name + ": it could not be written, because the disk " +
                                            (code == ENOSPC ? "is full" : "quota is used up") +
                                            ". Make room and retry.");
  if (code == EFBIG)
    throw Error(ErrorKind::environment, name +
                                            ": it could not be written, because files of this size are above "
                                            "the limit. Raise it (ulimit -f), or write less.");
  throw Error(ErrorKind::input, name + ": it could not be written: " + error_text(code) + ".");
}

[[noreturn]] void refuse_existing(const fs::path& path) {
  refuse(path, "the file exists already. Give another name, or allow replacing it (--overwrite).");
}

/// Follows symbolic links, so that a link stays a link when its file is replaced.
fs::path resolved(const fs::path& path) {
  std::error_code error;
  fs::path result = fs::canonical(path, error);
  return error ? path : result;
}

fs::path folder_of(const fs::path& path) {
  const fs::path folder = path.parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

void write_all(int descriptor, Bytes bytes, const std::string& name) {
  while (!bytes.empty()) {
    // Linux writes at most 2 GiB at once.
    const ssize_t count = ::write(descriptor, bytes.data(), std::min(bytes.size(), std::size_t{1} << 30));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EPIPE && descriptor == STDOUT_FILENO) return;  // whoever reads has enough
    if (count < 0) fail(name, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

/// A temporary file beside the target. The destructor removes it unless keep() was called.
class NamedTemporary {
 public:
  explicit NamedTemporary(const fs::path& target) {
    static std::atomic<unsigned> counter{0};
    constexpr int attempts = 1000;  // names left behind by a killed process with the same id
    for (int i = 0; i < attempts; ++i) {
      path_ = folder_of(target) /
              (".satin-" + std::to_string(::getpid()) + "-" + std::to_string(counter.fetch_add(1)) + ".tmp");
      descriptor_ = Descriptor(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
      if (descriptor_.get() >= 0) return;
      if (errno != EEXIST) break;
    }
    const int code = errno;
    path_.clear();
    fail(printable(target.native()), code);
  }
  ~NamedTemporary() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  NamedTemporary(const NamedTemporary&) = delete;
  NamedTemporary& operator=(const NamedTemporary&) = delete;

  [[nodiscard]] const fs::path& path() const noexcept { return path_; }
  [[nodiscard]] Descriptor& descriptor() noexcept { return descriptor_; }
  /// Call this when the file has been renamed.
  void keep() noexcept { path_.clear(); }

 private:
  fs::path path_;
  Descriptor descriptor_;
};

/// Copies owner, group and permissions of the replaced file. Owner and group are copied only as far as the
/// system allows.
void take_over_permissions(int descriptor, const struct stat& old) {
  struct stat current {};
  if (::fstat(descriptor, &current) == 0 && (current.st_uid != old.st_uid || current.st_gid != old.st_gid))
    if (::fchown(descriptor, old.st_uid, old.st_gid) != 0)
      static_cast<void>(::fchown(descriptor, static_cast<uid_t>(-1), old.st_gid) == 0);
  static_cast<void>(::fchmod(descriptor, old.st_mode & 07777U) == 0);
}

bool same_entry(const fs::path& path, const struct stat& other) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && status.st_dev == other.st_dev &&
         status.st_ino == other.st_ino;
}

/// Renames the temporary file without ever replacing an existing one.
void rename_to_new(NamedTemporary& temporary, const fs::path& target) {
  const char* from = temporary.path().c_str();
#ifdef RENAME_NOREPLACE
  if (::renameat2(AT_FDCWD, from, AT_FDCWD, target.c_str(), RENAME_NOREPLACE) == 0) return temporary.keep();
  if (errno == EEXIST) refuse_existing(target);
  if (errno != EINVAL && errno != ENOSYS) fail(printable(target.native()), errno);
#endif
  if (::link(from, target.c_str()) == 0) return;  // the destructor removes the temporary name
  if (errno == EEXIST) refuse_existing(target);
  // This file system knows neither call: reserve the name, then replace the reservation.
  const Descriptor reservation(::open(target.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (reservation.get() < 0 && errno == EEXIST) refuse_existing(target);
  if (reservation.get() < 0) fail(printable(target.native()), errno);
  if (std::rename(from, target.c_str()) == 0) return temporary.keep();
  const int code = errno;
  struct stat reserved {};
  if (::fstat(reservation.get(), &reserved) == 0 && same_entry(target, reserved)) ::unlink(target.c_str());
  fail(printable(target.native()), code);
}

void synchronise_folder(const fs::path& folder) {
  const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some file systems cannot synchronise folders. The file itself is on the disk already.
  if (descriptor.get() >= 0) static_cast<void>(::fsync(descriptor.get()) == 0);
}

/// Whether the path itself is a pipe. A pipe opened by a shell is not, as /dev/fd/63 is a link to it.
bool is_named_pipe(const fs::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
}

}  // namespace

void check_target(const fs::path& path, bool overwrite) {
  if (path.empty()) refuse("output", "the name of the file is empty. Give a name.");
  if (is_standard_stream(path) || path == "/dev/stdout") return;
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) refuse(path, "it is a folder. Give the name of a file in it.");
    if (S_ISBLK(status.st_mode) || S_ISSOCK(status.st_mode))
      refuse(path, "it is not a file. Give the name of a file.");
    if (is_named_pipe(path))
      refuse(path, "it is a named pipe. Write to standard output (-o - > NAME), or give the name of a file.");
    if (S_ISREG(status.st_mode) && !overwrite) refuse_existing(path);
    if (::access(path.c_str(), W_OK) != 0)
      refuse(path, "it is protected against writing. Change its permissions, or give another name.");
    if (!S_ISREG(status.st_mode)) return;
  } else if (errno == ENAMETOOLONG) {
    refuse(path, "the name is too long. Give a shorter one.");
  } else if (::lstat(path.c_str(), &status) == 0) {
    refuse(path, "it is a symbolic link that leads nowhere. Remove the link, or give another name.");
  }
  const fs::path folder = folder_of(resolved(path));
  if (::stat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
    refuse(path,
           "there is no folder " + printable(folder.native()) + ". Create it first, or check the name.");
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    refuse(path, "the folder " + printable(folder.native()) +
                     " cannot be written to. Change its permissions, or choose another.");
}

void write_file(const fs::path& path, Bytes bytes, bool overwrite, std::optional<fs::file_time_type> modified,
                const std::function<void(const fs::path& temporary)>& before_rename) {
  if (is_standard_stream(path) || path == "/dev/stdout")
    return write_all(STDOUT_FILENO, bytes, "standard output");
  struct stat old {};
  if (::stat(path.c_str(), &old) == 0 && !S_ISREG(old.st_mode)) {
    Descriptor device(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (device.get() < 0) fail(printable(path.native()), errno);
    write_all(device.get(), bytes, printable(path.native()));
    if (!device.close()) fail(printable(path.native()), errno);
    return;
  }
  NewFile file(path, overwrite);
  file.add(bytes);
  file.finish(modified, before_rename);
}

}  // namespace satin::io

namespace satin {

class NewFile::Temporary : public io::NamedTemporary {
 public:
  using NamedTemporary::NamedTemporary;
};

NewFile::NewFile(const std::filesystem::path& path, bool overwrite)
    : path_(path), target_(io::resolved(path)), overwrite_(overwrite) {
  struct stat old {};
  const bool exists = ::stat(path.c_str(), &old) == 0;
  if (exists && !overwrite) io::refuse_existing(path);
  temporary_ = std::make_unique<Temporary>(target_);
  if (exists) io::take_over_permissions(temporary_->descriptor().get(), old);
}

NewFile::~NewFile() = default;

void NewFile::add(std::span<const std::byte> bytes) {
  io::write_all(temporary_->descriptor().get(), bytes, printable(path_.native()));
}

void NewFile::replace(std::uint64_t at, std::span<const std::byte> bytes) {
  const int descriptor = temporary_->descriptor().get();
  if (::lseek(descriptor, static_cast<off_t>(at), SEEK_SET) < 0) io::fail(printable(path_.native()), errno);
  add(bytes);
  if (::lseek(descriptor, 0, SEEK_END) < 0) io::fail(printable(path_.native()), errno);
}

void NewFile::finish(std::optional<std::filesystem::file_time_type> modified,
                     const std::function<void(const std::filesystem::path& temporary)>& before_rename) {
  std::error_code ignored;  // some file systems store no times
  if (modified) std::filesystem::last_write_time(temporary_->path(), *modified, ignored);
  if (::fsync(temporary_->descriptor().get()) != 0) io::fail(printable(path_.native()), errno);
  if (!temporary_->descriptor().close()) io::fail(printable(path_.native()), errno);
  if (before_rename) before_rename(temporary_->path());
  if (overwrite_) {
    if (std::rename(temporary_->path().c_str(), target_.c_str()) != 0)
      io::fail(printable(path_.native()), errno);
    temporary_->keep();
  } else {
    io::rename_to_new(*temporary_, target_);
  }
  io::synchronise_folder(io::folder_of(target_));
}

}  // namespace satin

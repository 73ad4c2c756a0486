#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "view/view.h"

extern char** environ;

namespace satin::view {
namespace {

/// A file that only its owner can read, with a name that nobody can guess.
std::string write_private_file(const std::string& text) {
  const char* own = std::getenv("XDG_RUNTIME_DIR");
  std::error_code ignored;
  const std::filesystem::path folder = own != nullptr && std::filesystem::is_directory(own, ignored)
                                           ? own
                                           : std::filesystem::temp_directory_path(ignored);
  constexpr std::string_view extension = ".html";
  std::string name = (folder / "satin-view-XXXXXX.html").string();
  const int file = ::mkstemps(name.data(), static_cast<int>(extension.size()));
  if (file < 0) return "";
  const bool written = ::fchmod(file, S_IRUSR | S_IWUSR) == 0 &&
                       ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(file);
  if (written) return name;
  ::unlink(name.c_str());
  return "";
}

/// Starts the desktop's own opener, and waits for it elsewhere: it may live as long as the browser.
void open_file(const std::string& name) {
  posix_spawn_file_actions_t actions;
  if (::posix_spawn_file_actions_init(&actions) != 0) return;
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    ::posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0);
  std::string program = "xdg-open", file = name;
  const std::array<char*, 3> arguments{program.data(), file.data(), nullptr};
  pid_t child = 0;
  if (::posix_spawnp(&child, program.c_str(), &actions, nullptr, arguments.data(), environ) == 0)
    std::thread([child] { ::waitpid(child, nullptr, 0); }).detach();
  ::posix_spawn_file_actions_destroy(&actions);
}

}  // namespace

Browser::Browser(const std::string& url)
    : file_(write_private_file(
          "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">"
          "<meta http-equiv=\"refresh\" content=\"0;url=" +
          url + "\"><title>Satin</title>\n")) {
  if (!file_.empty()) open_file(file_);
}

Browser::~Browser() {
  if (!file_.empty()) ::unlink(file_.c_str());
}

}  // namespace satin::view

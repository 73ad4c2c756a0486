#include "view/view.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "io/module.h"
#include "satin/error.h"
#include "view/server.h"
#include "view/session.h"

extern char** environ;

namespace satin::view {
namespace {

/// Returns a secret of 256 random bits in hexadecimal.
std::string secret() {
  std::array<unsigned char, 32> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw Error(ErrorKind::environment, "The system provides no random numbers for the secret of the page.");
  constexpr const char* digits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : bytes) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

const ServerModule& server_module() {
  static const io::Module<ServerModule> module(server_file, server_entry, server_version);
  if (module.functions == nullptr)
    throw Error(
        ErrorKind::environment,
        "satin view needs the module " + std::string(server_file) + ": " + module.error +
            ". Install the package satin-view, or build Satin where Boost's headers are (libboost-dev).");
  return *module.functions;
}

/// Writes a file that only its owner can read, with a random name. Returns the name, or an empty text.
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

/// Starts the opener of the desktop. Another thread waits for it, as it may live as long as the browser.
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

void serve(const Start& start) {
  const ServerModule& server = server_module();
  ServerOptions options;
  options.address = start.address;
  options.port = start.port;
  options.secret = secret();
  options.listening = start.listening;
  options.ended = start.ended;
  Session session(start);
  if (const std::string reason = server.run(options, session); !reason.empty())
    throw Error(ErrorKind::environment, reason);
}

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

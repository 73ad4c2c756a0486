#include "view/view.h"

#include <sys/random.h>

#include <array>
#include <string>

#include "io/module.h"
#include "satin/error.h"
#include "view/server.h"
#include "view/session.h"

namespace satin::view {
namespace {

/// A secret of 256 random bits in hexadecimal.
std::string secret() {
  std::array<unsigned char, 32> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw Error(ErrorKind::environment, "The system gives no random numbers for the token of the page.");
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

}  // namespace

void serve(const Start& start) {
  const ServerModule& server = server_module();
  ServerOptions options;
  options.address = start.address;
  options.port = start.port;
  options.secrets = {secret(), secret(), secret()};
  options.listening = start.listening;
  options.ended = start.ended;
  Session session(start, options.secrets.header);
  if (const std::string reason = server.run(options, session); !reason.empty())
    throw Error(ErrorKind::environment, reason);
}

}  // namespace satin::view

#include "view/server.h"

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "view/admission.h"

// The server: accepts connections, lets Admission judge the head of every request, serves the files of the
// page, and passes other requests to the application. One thread reads and writes all sockets; a few others
// parse requests and make answers.

namespace satin::view {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::beast::error_code;
using std::chrono::seconds;

constexpr std::uint32_t longest_head = 16U << 10;
constexpr std::size_t buffered = 64U << 10;
constexpr seconds head_time{10};
constexpr seconds idle_time{60};
constexpr seconds transfer_time{60};
constexpr seconds upload_time{600};

std::string authority_of(const asio::ip::tcp::socket& socket) {
  error_code error;
  const auto end = socket.local_endpoint(error);
  if (error) return "";
  const std::string address = end.address().to_string();
  return (end.address().is_v6() ? "[" + address + "]" : address) + ":" + std::to_string(end.port());
}

int status_of(const error_code& error) {
  if (error == http::error::header_limit || error == http::error::buffer_overflow) return 431;
  return error == http::error::body_limit ? 413 : 400;
}

bool is_malformed(const error_code& error) {
  return error.category() == make_error_code(http::error::bad_target).category() &&
         error != http::error::end_of_stream && error != http::error::partial_message;
}

/// Sets fields so that only the files of the page run, nothing is embedded elsewhere, and nothing is cached.
void protect(http::response_header<>& head) {
  head.set(http::field::server, "satin");
  head.set("Content-Security-Policy",
           "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
           "base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
  head.set("X-Content-Type-Options", "nosniff");
  head.set("X-Frame-Options", "DENY");
  head.set("Referrer-Policy", "no-referrer");
  head.set("Cross-Origin-Resource-Policy", "same-origin");
  head.set("Cross-Origin-Opener-Policy", "same-origin");
  head.set(http::field::cache_control, "no-store");
}

const PageFile* find_page_file(std::string_view name) {
  const std::span<const PageFile> files = page_files();
  const auto found = std::ranges::find(files, name, &PageFile::name);
  return found == files.end() ? nullptr : &*found;
}

const char* media_type(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, const char*>, 4> types{
      {{".html", "text/html; charset=utf-8"},
       {".css", "text/css; charset=utf-8"},
       {".js", "text/javascript; charset=utf-8"},
       {".svg", "image/svg+xml"}}};
  for (const auto& [extension, type] : types)
    if (name.ends_with(extension)) return type;
  return "application/octet-stream";
}

constexpr std::size_t most_connections = 64;
constexpr std::ptrdiff_t most_bodies = 16;  ///< bodies that one client may be sending
constexpr std::size_t worker_threads = 4;

/// The state that all connections share.
struct Clients {
  std::string_view secret;
  Application& application;
  std::function<bool(const asio::ip::address& client)> may_send_body;
  asio::thread_pool workers{worker_threads};  ///< parse requests and make answers
};

/// A connection of a browser: requests one after the other.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Clock = std::chrono::steady_clock;
  using Socket = boost::asio::ip::tcp::socket;

  Connection(Socket socket, Clients& clients);

  /// `closed` is called once, when the connection ends.
  void start(std::function<void(const Connection*)> closed);
  /// Answers the first request with 503.
  void refuse_busy();
  /// Cancels pending operations.
  void close();

  /// How soon the connection gives way to a new one; the least first. Nothing if it does not.
  enum class Rank : std::uint8_t {
    refused,   ///< its request was refused, and it only waits for the end
    stranger,  ///< it has not shown the secret
    idle,      ///< it waits for a request
  };
  [[nodiscard]] std::optional<Rank> rank() const;
  /// Since when the connection waits or is at work.
  [[nodiscard]] Clock::time_point since() const { return since_; }
  [[nodiscard]] bool reads_body() const { return reads_body_; }
  [[nodiscard]] const asio::ip::address& client() const { return client_; }

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  using Response = boost::beast::http::response<boost::beast::http::string_body>;

  void wait_for_request();
  void read_head();
  void take_head();
  void read_body();
  void dispatch();
  void answer_file(std::string_view name);
  void refuse(int status, const char* reason);
  void send(Answer answer);
  void write(bool keeps_alive);
  void drain();
  void limit(std::chrono::seconds time, int status);
  void set_idle(bool idle);
  void finish();

  Socket socket_;
  boost::asio::steady_timer timer_;
  Clients& clients_;
  asio::ip::address client_;
  Admission admission_;
  boost::beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  Response response_;
  std::function<void(const Connection*)> closed_;
  Clock::time_point since_ = Clock::now();
  bool is_idle_ = true;
  bool is_refused_ = false;
  bool has_secret_ = false;
  bool reads_body_ = false;
  int late_ = 0;                   ///< status for a browser that was too slow
  std::array<char, 4096> rest_{};  ///< buffer for bytes that a refused browser still sends
};

asio::ip::address client_of(const asio::ip::tcp::socket& socket) {
  error_code error;
  return socket.remote_endpoint(error).address();
}

Connection::Connection(Socket socket, Clients& clients)
    : socket_(std::move(socket)),
      timer_(socket_.get_executor()),
      clients_(clients),
      client_(client_of(socket_)),
      admission_(clients.secret, authority_of(socket_)),
      buffer_(buffered) {}

std::optional<Connection::Rank> Connection::rank() const {
  if (is_refused_) return Rank::refused;
  if (!has_secret_) return Rank::stranger;
  return is_idle_ ? std::optional(Rank::idle) : std::nullopt;
}

void Connection::set_idle(bool idle) {
  is_idle_ = idle;
  since_ = Clock::now();
}

void Connection::start(std::function<void(const Connection*)> closed) {
  closed_ = std::move(closed);
  error_code ignored;
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  read_head();
}

void Connection::refuse_busy() { refuse(503, "Every connection is busy."); }

void Connection::close() {
  error_code ignored;
  timer_.cancel(ignored);
  socket_.close(ignored);
}

/// Cancels the pending operation after `time`. `status`, unless 0, then tells the browser why.
void Connection::limit(seconds time, int status) {
  timer_.expires_after(time);
  timer_.async_wait([self = shared_from_this(), status](const error_code& error) {
    if (error || self->timer_.expiry() > Clock::now()) return;  // the timer may have been restarted
    self->late_ = status;
    error_code ignored;
    self->socket_.cancel(ignored);
  });
}

/// Waits for the next request, up to idle_time: a browser may pause between two requests.
void Connection::wait_for_request() {
  if (buffer_.size() != 0) return read_head();
  set_idle(true);
  limit(idle_time, 0);
  socket_.async_wait(Socket::wait_read, [self = shared_from_this()](const error_code& error) {
    error ? self->finish() : self->read_head();
  });
}

void Connection::read_head() {
  if (!is_idle_) set_idle(true);
  parser_.emplace();
  parser_->header_limit(longest_head);
  parser_->body_limit(std::numeric_limits<std::uint64_t>::max());  // Admission checks the length
  limit(head_time, 408);
  http::async_read_header(socket_, buffer_, *parser_,
                          [self = shared_from_this()](const error_code& error, std::size_t) {
                            self->set_idle(false);
                            if (!error) return self->take_head();
                            if (self->late_ != 0)
                              return self->refuse(self->late_, "The request took too long.");
                            if (!is_malformed(error)) return self->finish();
                            self->refuse(status_of(error), "This is not a request.");
                          });
}

void Connection::take_head() {
  const Head& head = parser_->get().base();
  const Verdict verdict = admission_.judge(head);
  if (verdict.status != 200) return refuse(verdict.status, verdict.reason);
  has_secret_ = has_secret_ || is_of_session(target_of(head).path);
  if (head.method() == http::verb::post) return read_body();
  const std::string_view path = target_of(head).path;
  constexpr std::string_view page = "/page/";
  if (is_of_session(path)) return dispatch();
  if (path == "/") return answer_file("index.html");
  if (path.starts_with(page)) return answer_file(path.substr(page.size()));
  refuse(404, "There is nothing here.");
}

void Connection::read_body() {
  const std::string_view path = target_of(parser_->get().base()).path;
  if (!is_of_session(path)) return refuse(405, "Files of the page can only be read.");
  if (!clients_.may_send_body(client_)) return refuse(503, "This client is sending too many bodies at once.");
  reads_body_ = true;
  parser_->body_limit(longest_upload);  // Admission has checked the length
  limit(path == upload_path ? upload_time : transfer_time, 408);
  http::async_read(socket_, buffer_, *parser_,
                   [self = shared_from_this()](const error_code& error, std::size_t) {
                     self->reads_body_ = false;
                     if (!error) return self->dispatch();
                     if (self->late_ != 0) return self->refuse(self->late_, "The body took too long.");
                     if (!is_malformed(error)) return self->finish();
                     self->refuse(status_of(error), "The body does not match the head.");
                   });
}

void Connection::dispatch() {
  error_code ignored;
  timer_.cancel(ignored);
  const Target target = target_of(parser_->get().base());
  Request request{parser_->get().method() == http::verb::post ? "POST" : "GET", std::string(target.path),
                  std::string(target.query), std::move(parser_->get().body())};
  parser_->get().body().clear();
  const auto reply = [self = shared_from_this()](Answer answer) {
    asio::post(self->socket_.get_executor(),
               [self, answer = std::move(answer)]() mutable { self->send(std::move(answer)); });
  };
  asio::post(clients_.workers, [&application = clients_.application, request = std::move(request), reply] {
    application.answer(request, reply);
  });
}

void Connection::answer_file(std::string_view name) {
  const PageFile* file = find_page_file(name);
  if (file == nullptr) return refuse(404, "There is nothing here.");
  send({200, media_type(file->name), std::string(file->text)});
}

/// Refuses a request and ends the connection. What the browser still sends is not read as a request.
void Connection::refuse(int status, const char* reason) {
  late_ = 0;
  is_refused_ = true;
  response_ = Response(http::int_to_status(static_cast<unsigned>(status)), 11, std::string(reason) + "\n");
  response_.set(http::field::content_type, "text/plain; charset=utf-8");
  if (status == 405) response_.set(http::field::allow, "GET, POST");
  write(false);
}

void Connection::send(Answer answer) {
  response_ = Response(http::int_to_status(static_cast<unsigned>(answer.status)), 11, std::move(answer.body));
  response_.set(http::field::content_type, answer.type);
  for (const auto& [name, value] : answer.fields) response_.insert(name, value);
  write(parser_->get().keep_alive());
}

void Connection::write(bool keeps_alive) {
  protect(response_);
  response_.keep_alive(keeps_alive);
  response_.prepare_payload();
  limit(transfer_time, 0);
  http::async_write(socket_, response_,
                    [self = shared_from_this(), keeps_alive](const error_code& error, std::size_t) {
                      self->response_ = Response();
                      if (error) return self->finish();
                      if (keeps_alive) return self->wait_for_request();
                      error_code ignored;
                      self->socket_.shutdown(Socket::shutdown_send, ignored);
                      self->limit(seconds(2), 0);
                      self->drain();
                    });
}

/// Reads to the end: closing a socket with unread bytes would discard the answer.
void Connection::drain() {
  socket_.async_read_some(asio::buffer(rest_),
                          [self = shared_from_this()](const error_code& error, std::size_t) {
                            error ? self->finish() : self->drain();
                          });
}

void Connection::finish() {
  close();
  if (closed_) std::exchange(closed_, nullptr)(this);
}

using asio::ip::tcp;

constexpr std::chrono::milliseconds between_looks{50};

class Server {
 public:
  Server(const ServerOptions& options, Application& application)
      : options_(options),
        acceptor_(io_),
        timer_(io_),
        clients_{options.secret, application, [this](const auto& client) { return may_send_body(client); }} {}

  /// Starts listening. Returns an empty text, or the reason why it cannot.
  std::string listen();
  void run();

 private:
  void accept();
  void admit(tcp::socket socket);
  bool make_room();
  [[nodiscard]] bool may_send_body(const asio::ip::address& client) const;
  void look_for_end();

  const ServerOptions& options_;
  asio::io_context io_{1};
  tcp::acceptor acceptor_;
  asio::steady_timer timer_;
  bool accepting_ = false;
  Clients clients_;
  std::vector<std::shared_ptr<Connection>> connections_;
};

std::string Server::listen() {
  error_code error;
  const auto address = asio::ip::make_address(options_.address, error);
  if (error) return "'" + options_.address + "' is not an address. Give one such as 127.0.0.1.";
  const tcp::endpoint wanted(address, options_.port);
  acceptor_.open(wanted.protocol(), error);
  if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor_.bind(wanted, error);
  if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (error)
    return "The page cannot be served at " + options_.address + ", port " + std::to_string(options_.port) +
           ": " + error.message() + ". Choose another one by --port.";
  const std::string host = address.is_v6() ? "[" + address.to_string() + "]" : address.to_string();
  const std::string port = std::to_string(acceptor_.local_endpoint().port());
  options_.listening("http://" + host + ":" + port + "/#t=" + options_.secret);
  return "";
}

void Server::run() {
  look_for_end();
  io_.run();
  clients_.application.stop();
  clients_.workers.join();
}

/// Accepts connections. Errors such as too many open files are temporary: look_for_end() tries again.
void Server::accept() {
  accepting_ = true;
  acceptor_.async_accept([this](const error_code& error, tcp::socket socket) {
    accepting_ = false;
    if (error) return;
    admit(std::move(socket));
    accept();
  });
}

void Server::admit(tcp::socket socket) {
  const auto connection = std::make_shared<Connection>(std::move(socket), clients_);
  if (!make_room()) return connection->refuse_busy();
  connections_.push_back(connection);
  connection->start([this](const Connection* closed) {
    std::erase_if(connections_, [&](const auto& each) { return each.get() == closed; });
  });
}

/// Closes the connection that gives way first, if all are in use: of equal rank the oldest. Returns false if
/// none gives way. So clients without the secret never push out one that has it and is at work.
bool Server::make_room() {
  if (connections_.size() < most_connections) return true;
  std::shared_ptr<Connection> first;
  const auto before = [](const Connection& a, const Connection& b) {
    return std::pair(*a.rank(), a.since()) < std::pair(*b.rank(), b.since());
  };
  for (const auto& each : connections_)
    if (each->rank() && (!first || before(*each, *first))) first = each;
  if (!first) return false;
  first->close();
  std::erase(connections_, first);
  return true;
}

bool Server::may_send_body(const asio::ip::address& client) const {
  return std::ranges::count_if(connections_, [&](const auto& each) {
           return each->reads_body() && each->client() == client;
         }) < most_bodies;
}

void Server::look_for_end() {
  if (options_.ended()) return io_.stop();
  if (!accepting_) accept();
  timer_.expires_after(between_looks);
  timer_.async_wait([this](const error_code& error) {
    if (!error) look_for_end();
  });
}

std::string run(const ServerOptions& options, Application& application) {
  Server server(options, application);
  if (std::string reason = server.listen(); !reason.empty()) return reason;
  server.run();
  return "";
}

}  // namespace
}  // namespace satin::view

extern "C" __attribute__((visibility("default"))) const satin::view::ServerModule* satin_view() {
  static const satin::view::ServerModule module{satin::view::server_version, satin::view::run};
  return &module;
}

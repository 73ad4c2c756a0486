#pragma once
// The state of a session: the files, the settings, the picture that is open.

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "batch/file_names.h"
#include "batch/file_stamp.h"
#include "view/answers.h"
#include "view/renderer.h"
#include "view/server.h"
#include "view/settings.h"
#include "view/view.h"

namespace satin::view {

class Session final : public Application {
 public:
  /// `header` is what the page repeats with every change. Throws as serve().
  Session(const Start& start, std::string header);

  void answer(const Request& request, std::function<void(Answer)> reply) override;
  void stop() override { renderer_.stop(); }

 private:
  using Json = nlohmann::json;

  /// A mask that the page has painted, kept so that a page that is loaded again can go on painting.
  struct Painting {
    std::filesystem::path file;
    std::string strokes = "[]";  ///< JSON, at most as long as the body of a request
  };

  // Answers that are there at once.
  Answer attempt(const std::function<void()>& change);
  Answer change_settings(const Json& body);
  Answer take_command(const Json& body);
  Answer set_focus(const Json& body);
  Answer tell_changes() const;
  Answer look_at(const Query& query) const;
  // Answers that the worker makes, which take the mutex themselves.
  Answer save(const Json& body);
  Answer paint(const Json& body);
  Answer thumbnail(const Query& query);
  Answer write_list();

  void tell_session(const Reply& reply);
  void open(const Json& body, const Reply& reply);

  void take(const Request& request, const Reply& reply);
  Answer at_once(const std::string& name, const std::string& query, const Json& body);
  /// Runs `work` on the worker; an error that it throws becomes a refusal, which the page expects.
  void later(const Reply& reply, std::function<Answer()> work, Renderer::Turn turn = Renderer::Turn::first);
  void load();
  void drop_paintings();
  void use(const Pipeline& pipeline);
  void show();
  [[nodiscard]] Answer settings_answer(const Json& more) const;
  [[nodiscard]] Json session_json() const;
  [[nodiscard]] Json paintings_json() const;
  [[nodiscard]] std::shared_ptr<const Batch> work() const;
  [[nodiscard]] std::filesystem::path input() const { return inputs_.files.path(index_); }
  [[nodiscard]] std::filesystem::path output() const { return work()->file(0).output; }
  [[nodiscard]] std::string command() const;
  [[nodiscard]] Pipeline checked(Settings settings) const;
  [[nodiscard]] std::filesystem::path free_name(const std::string& end) const;
  void remember(const std::filesystem::path& file);
  void remember_sides();

  Start start_;
  std::string header_;
  batch::InputList inputs_;
  bool folder_output_ = false;
  mutable std::mutex mutex_;  ///< held by answer(); later() lets its work take it
  Line line_;                 ///< the present command line
  std::size_t index_ = 0;
  int generation_ = 1;
  std::shared_ptr<const OpenPicture> picture_;
  std::optional<Error> problem_;
  std::vector<Reply> waiting_;                      ///< replies that wait for the picture
  std::vector<std::string> pictures_;               ///< names that side inputs may have
  std::map<std::size_t, Painting> paintings_;       ///< painted masks, by step
  std::map<std::string, batch::FileStamp> stamps_;  ///< of the files in use, as they were read or written
  Renderer renderer_;                               ///< last: its worker uses all of it
};

}  // namespace satin::view

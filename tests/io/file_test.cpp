#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <thread>

#include "tests/io/support.h"

namespace satin::test {
namespace {

const Image& picture() {
  static const Image image = random_image(shape_of(20, 10, 3, Type::u8));
  return image;
}

WriteOptions overwriting() {
  WriteOptions options;
  options.overwrite = true;
  return options;
}

TEST(Read, MissingEmptyFolderAndForbiddenHaveTheirOwnMessages) {
  const TemporaryFolder folder;
  store(folder / "empty.png", "");
  store(folder / "secret.png", "x");
  const auto read = [&](const fs::path& path) { return [path] { static_cast<void>(read_image(path)); }; };
  expect_error(ErrorKind::input, "there is no such file", read(folder / "missing.png"));
  expect_error(ErrorKind::input, "missing.png", read(folder / "missing.png"));
  expect_error(ErrorKind::input, "there is no such file", read(folder / "empty.png/x.png"));
  expect_error(ErrorKind::input, "empty", read(folder / "empty.png"));
  expect_error(ErrorKind::input, "folder", read(folder.path()));
  expect_error(ErrorKind::input, "name", read(""));
  expect_error(ErrorKind::input, "not an image", read("/dev/zero"));
  fs::permissions(folder / "secret.png", fs::perms::none);
  if (::geteuid() != 0) expect_error(ErrorKind::input, "permission", read(folder / "secret.png"));
}

TEST(Read, FileOverTheLimitOfBytes) {
  const TemporaryFolder folder;
  store(folder / "x.pgm", "P5 2 2 255\nabcd" + std::string(200000, 'x'));
  ReadLimits limits;
  limits.bytes = 1000;
  expect_error(ErrorKind::input, "limit of 1000 bytes",
               [&] { static_cast<void>(read_image(folder / "x.pgm", limits)); });
}

TEST(Write, ThenRead) {
  const TemporaryFolder folder;
  for (const char* name : {"a.png", "b.PPM", "c.bmp", "d.npy"}) {
    write_image(folder / name, picture());
    expect_same(read_image(folder / name), picture(), name);
  }
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"a.png", "b.PPM", "c.bmp", "d.npy"}));
}

TEST(Write, ExistingFileNeedsOverwrite) {
  const TemporaryFolder folder;
  store(folder / "x.png", "old");
  expect_error(ErrorKind::usage, "exists already", [&] { write_image(folder / "x.png", picture()); });
  EXPECT_EQ(text_of(folder / "x.png"), "old");
  write_image(folder / "x.png", picture(), overwriting());
  expect_same(read_image(folder / "x.png"), picture(), "replaced");
  EXPECT_EQ(folder.names().size(), 1U);
}

TEST(Write, ReplacingKeepsPermissionsAndLinks) {
  const TemporaryFolder folder;
  store(folder / "x.png", "old");
  fs::permissions(folder / "x.png", fs::perms(0640));
  fs::create_symlink("x.png", folder / "link.png");
  write_image(folder / "link.png", picture(), overwriting());
  EXPECT_TRUE(fs::is_symlink(folder / "link.png"));
  EXPECT_EQ(fs::status(folder / "x.png").permissions(), fs::perms(0640));
  expect_same(read_image(folder / "x.png"), picture(), "behind the link");
  EXPECT_EQ(folder.names().size(), 2U);
}

TEST(Write, NewFileHonoursTheUmask) {
  const TemporaryFolder folder;
  const mode_t old = ::umask(027);
  write_image(folder / "x.png", picture());
  ::umask(old);
  EXPECT_EQ(fs::status(folder / "x.png").permissions(), fs::perms(0640));
}

TEST(Write, ProblemsAreFoundBeforeWork) {
  const TemporaryFolder folder;
  const Shape shape = picture().shape();
  expect_error(ErrorKind::usage, "there is no folder", [&] { check_writable(folder / "no/x.png", shape); });
  store(folder / "file", "x");
  expect_error(ErrorKind::usage, "there is no folder", [&] { check_writable(folder / "file/x.png", shape); });
  fs::create_directory(folder / "dir.png");
  expect_error(ErrorKind::usage, "is a folder",
               [&] { check_writable(folder / "dir.png", shape, overwriting()); });
  expect_error(ErrorKind::usage, "empty", [&] {
    WriteOptions options;
    options.format = ".png";
    check_writable("", shape, options);
  });
  expect_error(ErrorKind::usage, "too long",
               [&] { check_writable(folder / (std::string(300, 'x') + ".png"), shape); });
  fs::create_symlink("nowhere.png", folder / "dangling.png");
  expect_error(ErrorKind::usage, "leads nowhere",
               [&] { check_writable(folder / "dangling.png", shape, overwriting()); });
  EXPECT_NO_THROW(check_writable(folder / "new.png", shape));
  EXPECT_EQ(folder.names().size(), 3U);
}

TEST(Write, ForbiddenFolderAndProtectedFile) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  const TemporaryFolder folder;
  store(folder / "x.png", "old");
  fs::permissions(folder / "x.png", fs::perms(0444));
  expect_error(ErrorKind::usage, "protected",
               [&] { write_image(folder / "x.png", picture(), overwriting()); });
  fs::permissions(folder.path(), fs::perms(0555));
  expect_error(ErrorKind::usage, "cannot be written", [&] { write_image(folder / "y.png", picture()); });
  EXPECT_EQ(text_of(folder / "x.png"), "old");
}

TEST(Write, OldFileSurvivesAFailure) {
  const TemporaryFolder folder;
  const Image gray = random_image(shape_of(20, 10, 1, Type::u8));
  store(folder / "x.pbm", "old");
  expect_error(ErrorKind::input, "PBM", [&] { write_image(folder / "x.pbm", gray, overwriting()); });
  EXPECT_EQ(text_of(folder / "x.pbm"), "old");
  EXPECT_EQ(folder.names().size(), 1U);
}

TEST(Write, FileThatIsTooLargeLeavesNothing) {
  const TemporaryFolder folder;
  store(folder / "old.npy", "old");
  // A child process writes, because the limit on file sizes applies to the whole process.
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit{500, 500};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::signal(SIGXFSZ, SIG_IGN);
    int failures = 0;
    for (const char* name : {"old.npy", "new.npy"}) try {
        write_image(folder / name, picture(), overwriting());
      } catch (const Error& error) {
        failures += error.kind() == ErrorKind::environment ? 1 : 0;
      }
    ::_exit(failures);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 2);
  EXPECT_EQ(text_of(folder / "old.npy"), "old");
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"old.npy"}));
}

TEST(Write, DevicesAreWrittenToDirectly) {
  WriteOptions options;
  options.format = ".png";
  EXPECT_NO_THROW(write_image("/dev/null", picture(), options));
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  expect_error(ErrorKind::environment, "full", [&] { write_image("/dev/full", picture(), options); });
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST(Write, PipesAndStandardStreams) {
  const TemporaryFolder folder;
  const std::string pipe = (folder / "pipe.png").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  expect_error(ErrorKind::usage, "named pipe", [&] { write_image(pipe, picture()); });
  const std::vector<std::byte> bytes = encode_image(picture(), ".png");
  std::thread writer([&] {
    std::ofstream(pipe, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  });
  const Image read = read_image(pipe);
  writer.join();
  expect_same(read, picture(), "pipe");

  WriteOptions options;
  options.format = "png";
  const int saved_output = ::dup(STDOUT_FILENO), saved_input = ::dup(STDIN_FILENO);
  const int file = ::open((folder / "out").c_str(), O_RDWR | O_CREAT, 0600);
  ::dup2(file, STDOUT_FILENO);
  write_image("-", picture(), options);
  ::dup2(saved_output, STDOUT_FILENO);
  ::lseek(file, 0, SEEK_SET);
  ::dup2(file, STDIN_FILENO);
  const Image again = read_image("-");
  ::dup2(saved_input, STDIN_FILENO);
  for (const int descriptor : {file, saved_output, saved_input}) ::close(descriptor);
  expect_same(again, picture(), "standard streams");
  expect_error(ErrorKind::usage, "extension", [] { check_writable("-", picture().shape()); });
}

TEST(Write, OneWinnerOfManyWritersWithoutOverwrite) {
  const TemporaryFolder folder;
  std::vector<std::thread> threads;
  std::atomic<int> written{0}, refused{0};
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      try {
        write_image(folder / "x.png", picture());
        ++written;
      } catch (const Error& error) {
        refused += error.kind() == ErrorKind::usage ? 1 : 0;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(written, 1);
  EXPECT_EQ(refused, 7);
  expect_same(read_image(folder / "x.png"), picture(), "winner");
  EXPECT_EQ(folder.names().size(), 1U);
}

TEST(SameFile, SeesThroughLinksAndNames) {
  const TemporaryFolder folder;
  store(folder / "a.png", "a");
  store(folder / "b.png", "a");
  fs::create_symlink("a.png", folder / "symbolic.png");
  fs::create_hard_link(folder / "a.png", folder / "hard.png");
  fs::create_directory_symlink(folder.path(), folder / "folder");
  EXPECT_TRUE(same_file(folder / "a.png", folder / "a.png"));
  EXPECT_TRUE(same_file(folder / "a.png", folder / "./a.png"));
  EXPECT_TRUE(same_file(folder / "a.png", folder / "symbolic.png"));
  EXPECT_TRUE(same_file(folder / "a.png", folder / "hard.png"));
  EXPECT_TRUE(same_file(folder / "a.png", folder / "folder/a.png"));
  EXPECT_TRUE(same_file(folder / "new.png", folder / "folder/new.png"));
  EXPECT_FALSE(same_file(folder / "a.png", folder / "b.png"));
  EXPECT_FALSE(same_file(folder / "a.png", folder / "new.png"));
  EXPECT_FALSE(same_file("-", "-"));
}

}  // namespace
}  // namespace satin::test

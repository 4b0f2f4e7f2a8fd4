#include "base/os/files.h"

#include <cerrno>
#include <filesystem>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/fd.h"
#include "base/os/file_in_pieces.h"
#include "base/os/temp_folder.h"

namespace mangrove {
namespace {

class FilesTest : public ::testing::Test {
 protected:
  std::string path(const char* name) const { return folder_.file(name); }
  size_t entries() const {
    return static_cast<size_t>(
        std::distance(std::filesystem::directory_iterator(folder_.path()), {}));
  }
  TempFolder folder_{"files"};
};

TEST_F(FilesTest, WritesAndReadsBack) {
  ASSERT_TRUE(writeFileAtomically(path("a"), "first"));
  EXPECT_EQ(readFile(path("a")).value(), "first");
  ASSERT_TRUE(
      writeFileAtomically(path("a"), std::string(300000, 'x'), {.mode = 0600, .sync = false}));
  EXPECT_EQ(readFile(path("a")).value(), std::string(300000, 'x'));
  struct stat info {};
  ASSERT_EQ(::stat(path("a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_EQ(entries(), 1u);
}

TEST_F(FilesTest, ReadersKeepTheOldContent) {
  ASSERT_TRUE(writeFileAtomically(path("a"), "old"));
  const UniqueFd reader(::open(path("a").c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(writeFileAtomically(path("a"), "new"));
  char bytes[3] = {};
  ASSERT_EQ(::read(reader.get(), bytes, 3), 3);
  EXPECT_EQ(std::string(bytes, 3), "old");
}

TEST_F(FilesTest, AFailedWriteLeavesNothingBehind) {
  std::filesystem::create_directory(path("folder"));
  std::filesystem::create_directory(path("folder/inside"));
  EXPECT_FALSE(writeFileAtomically(path("folder"), "x"));
  EXPECT_EQ(entries(), 1u);
  const auto missing = writeFileAtomically(path("no/such/place"), "x");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), Code::kNotFound);
}

TEST_F(FilesTest, PiecesAreKeptTogetherOrNotAtAll) {
  ASSERT_TRUE(writeFileAtomically(path("a"), "old"));
  {
    auto file = FileInPieces::make(path("a"), {.mode = 0600});
    ASSERT_TRUE(file && file->add("one ") && file->add("two"));
    EXPECT_EQ(readFile(path("a")).value(), "old");
  }
  EXPECT_EQ(entries(), 1u) << "what nobody kept is gone";
  auto file = FileInPieces::make(path("a"), {.mode = 0600});
  ASSERT_TRUE(file && file->add("one ") && file->add("two") && file->keep());
  EXPECT_EQ(readFile(path("a")).value(), "one two");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(FilesTest, ReadsHaveALimit) {
  ASSERT_TRUE(writeFileAtomically(path("a"), "12345"));
  EXPECT_EQ(readFile(path("a"), 5).value(), "12345");
  EXPECT_EQ(readFile(path("a"), 4).error().code(), Code::kTooLarge);
  EXPECT_EQ(readFile("/dev/zero", 100000).error().code(), Code::kTooLarge);
  EXPECT_EQ(readFile(path("missing")).error().code(), Code::kNotFound);
  EXPECT_FALSE(readFile(folder_.path()));
  // A sysctl answers the first read only, and says that it is empty.
  EXPECT_TRUE(readFile("/proc/sys/kernel/pid_max").value().ends_with("\n"));
}

TEST_F(FilesTest, ReadsFilesWithoutASize) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const UniqueFd both(::open(path("pipe").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_TRUE(both);
  ASSERT_EQ(::write(both.get(), "through", 7), 7);
  EXPECT_EQ(readFile(path("pipe"), 3).error().code(), Code::kTooLarge);
}

TEST_F(FilesTest, DescriptorsCloseOnceAndKeepErrno) {
  UniqueFd first(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int number = first.get();
  UniqueFd second = std::move(first);
  EXPECT_FALSE(first);
  EXPECT_EQ(second.get(), number);
  errno = ENOENT;
  second.reset();
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(::fcntl(number, F_GETFD), -1);
  UniqueFd third(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int raw = third.release();
  EXPECT_FALSE(third);
  ::close(raw);
}

}  // namespace
}  // namespace mangrove

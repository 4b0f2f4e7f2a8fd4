#include "base/os/temp_folder.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "base/os/files.h"

namespace mangrove {
namespace {

TEST(TempFolder, GoesWithItsContent) {
  std::string path;
  {
    TempFolder folder("gone");
    path = folder.path();
    ASSERT_TRUE(writeFileAtomically(folder.file("a"), "x"));
    EXPECT_TRUE(std::filesystem::exists(path + "/a"));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(TempFolder, MovesWithItsOwner) {
  TempFolder first("moved");
  const std::string path = first.path();
  {
    const TempFolder second = std::move(first);
    EXPECT_EQ(second.path(), path);
    EXPECT_TRUE(std::filesystem::exists(path));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(TempFolder, SaysWhereItCouldNotBe) {
  const auto made = TempFolder::below("/nowhere/at/all", "x");
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().text().find("/nowhere/at/all"), std::string::npos);
}

}  // namespace
}  // namespace mangrove

#include "apiserver/auth/sealing.h"

#include <gtest/gtest.h>

#include "apiserver/core/resources.h"
#include "base/os/files.h"
#include "base/text/encoding.h"
#include "store/testing.h"

namespace mangrove::apiserver {
namespace {

std::string line(const std::string& name, char fill) {
  return name + ":" + base64Encode(std::string(32, fill)) + "\n";
}

TEST(SealingKeys, SealAndOpenInTheirPlaceOnly) {
  auto keys = SealingKeys::parse("# ours\n\n" + line("new", 'n') + line("old", 'o'), "f");
  ASSERT_TRUE(keys) << keys.error().text();
  auto sealed = (*keys)->seal("treasure", "secrets a/b@7");
  ASSERT_TRUE(sealed);
  EXPECT_EQ(sealed->find("treasure"), std::string::npos);
  EXPECT_TRUE(sealed->starts_with("new:"));
  EXPECT_NE(*sealed, *(*keys)->seal("treasure", "secrets a/b@7")) << "never twice the same";
  EXPECT_EQ(*(*keys)->open(*sealed, "secrets a/b@7"), "treasure");
  EXPECT_FALSE((*keys)->open(*sealed, "secrets a/c@7")) << "moved to another row";
  std::string bent = *sealed;
  bent[bent.size() / 2] = bent[bent.size() / 2] == 'A' ? 'B' : 'A';
  EXPECT_FALSE((*keys)->open(bent, "secrets a/b@7"));

  auto rotated = SealingKeys::parse(line("newer", 'x') + line("new", 'n'), "f");
  EXPECT_EQ(*(*rotated)->open(*sealed, "secrets a/b@7"), "treasure") << "older keys open";
  auto other = SealingKeys::parse(line("other", 'n'), "f");
  EXPECT_NE((*other)->open(*sealed, "secrets a/b@7").error().text().find("'new'"),
            std::string::npos);
}

TEST(SealingKeys, RefusesFilesThatHoldNoKey) {
  const std::vector<std::string> wrong = {"",
                                          "# nothing",
                                          "x",
                                          "x:",
                                          "x:abc",
                                          ":" + base64Encode("short"),
                                          "x:" + base64Encode(std::string(31, 'a')),
                                          line("x", 'a') + line("x", 'b')};
  for (const std::string& text : wrong) {
    auto keys = SealingKeys::parse(text, "the-file");
    ASSERT_FALSE(keys) << text;
    EXPECT_NE(keys.error().text().find("the-file"), std::string::npos);
    EXPECT_EQ(keys.error().text().find(base64Encode(std::string(31, 'a'))), std::string::npos)
        << "a key is never in a message";
  }
}

// On the disk there is nothing to read; with the key everything is as before, without it nothing
// opens.
TEST(SealingKeys, WhatTheStoreKeepsOfASecretIsSealed) {
  store::TempDir dir;
  const auto keys = *SealingKeys::parse(line("k", 'k'), "f");
  store::Options options{.dir = dir.path()};
  options.seal = keys;
  {
    store::Shop shop(options);
    ASSERT_TRUE(shop.now(shop.puts(Resources::storedName("", "secrets"), "a", "s", "",
                                   R"(,"data":{"t":"dHJlYXN1cmU="})")));
    ASSERT_TRUE(shop.now(shop.puts(store::pods(), "a", "p", "", R"(,"data":"plain-to-see")")));
    shop->close();
  }
  const std::string bytes = *readFile(dir.path() + "/store.db");
  EXPECT_EQ(bytes.find("dHJlYXN1cmU="), std::string::npos);
  EXPECT_NE(bytes.find("plain-to-see"), std::string::npos);
  {
    store::Shop shop(options);
    EXPECT_EQ(shop->stats().objects, 2u);
  }
  options.seal = nullptr;
  auto without = store::Store::open(options, [](Fn) {});
  ASSERT_FALSE(without);
  EXPECT_NE(without.error().text().find("--encryption-key-file"), std::string::npos)
      << without.error().text();
  options.seal = *SealingKeys::parse(line("k", 'z'), "f");
  EXPECT_FALSE(store::Store::open(options, [](Fn) {})) << "a wrong key";
}

}  // namespace
}  // namespace mangrove::apiserver

#include "apiserver/auth/credential_files.h"

#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/os/files.h"
#include "base/os/temp_folder.h"

namespace mangrove::apiserver {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class CredentialFiles : public ::testing::Test {
 protected:
  std::string path(const char* name) const { return dir_.file(name); }
  TempFolder dir_{"credentials"};
};

TEST_F(CredentialFiles, TheKeyIsMadeOnceAndForItsOwnerOnly) {
  auto made = openSigningKey(path("key"));
  ASSERT_TRUE(made) << made.error().text();
  EXPECT_EQ(fs::status(path("key")).permissions() & fs::perms::all,
            fs::perms::owner_read | fs::perms::owner_write);
  auto again = openSigningKey(path("key"));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->id(), made->id());
  EXPECT_TRUE(again->verify("x", *made->sign("x")));
}

TEST_F(CredentialFiles, ADamagedKeyIsRefusedAndKept) {
  ASSERT_TRUE(writeFileAtomically(path("key"), "damaged"));
  auto key = openSigningKey(path("key"));
  ASSERT_FALSE(key);
  EXPECT_THAT(key.error().text(), HasSubstr(path("key") + ": signing key: no usable private key"));
  EXPECT_EQ(*readFile(path("key")), "damaged");
  EXPECT_FALSE(openSigningKey(path("none/key")));
}

TEST_F(CredentialFiles, TokensMayBeAbsentButNotWrong) {
  EXPECT_EQ(openTokens(path("tokens"))->size(), 0u);
  ASSERT_TRUE(writeFileAtomically(path("tokens"), "a,ann,1\n"));
  EXPECT_EQ(openTokens(path("tokens"))->find("a")->user, "ann");
  ASSERT_TRUE(writeFileAtomically(path("tokens"), "a,ann,1\nb\n"));
  EXPECT_THAT(openTokens(path("tokens")).error().text(), HasSubstr("tokens: line 2"));
}

}  // namespace
}  // namespace mangrove::apiserver

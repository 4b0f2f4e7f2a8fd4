#include "store/body_packer.h"

#include <gtest/gtest.h>

#include "base/number/rng.h"
#include "store/testing.h"

namespace mangrove::store {
namespace {

std::string alike(uint64_t i) {
  return fmt::format(
      R"({{"metadata":{{"name":"pod-{}","uid":"{:032x}"}},"spec":{{"filler":"{}"}}}})", i,
      Rng(i).next(), std::string(40, 'f') + std::string(400, 'x') + "end");
}

TEST(BodyPackerTest, GivesBackWhatItGot) {
  BodyPacker packer;
  size_t plain = 0, packed = 0, kept = 0;
  for (uint64_t i = 0; i < 3000; ++i) {  // passes through several tables
    const std::string body = alike(i);
    const PackedBody small = packer.pack(body);
    if (small.empty()) {
      ++kept;
      continue;
    }
    ASSERT_EQ(*small.unpack(), body);
    plain += body.size();
    packed += small.size();
  }
  EXPECT_LT(kept, 40u) << "only the first few, before there is a table";
  EXPECT_LT(packed * 5, plain);
}

TEST(BodyPackerTest, LeavesAloneWhatDoesNotGetSmaller) {
  BodyPacker packer;
  Rng rng(1);
  for (int i = 0; i < 100; ++i) {
    std::string noise(2000, '\0');
    for (char& c : noise) c = static_cast<char>(rng.below(256));
    EXPECT_TRUE(packer.pack(noise).empty());
    EXPECT_TRUE(packer.pack("{}").empty());
  }
}

TEST(BodyPackerTest, PacksObjectsOfEverySize) {
  BodyPacker packer;
  Rng rng(2);
  for (int i = 0; i < 300; ++i) {
    std::string body = alike(static_cast<uint64_t>(i));
    if (i > 100) body += std::string(rng.below(i % 20 == 0 ? 3'000'000 : 9000), 'y');
    const PackedBody small = packer.pack(body);
    ASSERT_TRUE(small.empty() || *small.unpack() == body);
  }
}

TEST(BodyPackerTest, NobodyNoticesThatTheStorePacks) {
  TempDir dir;
  Shop shop({.dir = dir.path(), .windowEvents = 500});
  const auto fill = [](int i) { return fmt::format(R"(,"d":"{}{}")", i, std::string(700, 'x')); };
  for (int i = 0; i < 4000; ++i)
    ASSERT_TRUE(
        shop->commit(shop.puts(pods(), "a", fmt::format("p{}", i % 1500), "", fill(i)), nullptr));
  shop->flush();
  const auto check = [&] {
    const auto page = shop->list({.resource = pods()});
    ASSERT_EQ(page->items.size(), 1500u);
    for (const ObjectPtr& object : page->items) {
      const int i = static_cast<int>(object->revision().v) - 2;
      const Body want = body(object->name(), object->revision(), "", fill(i));
      ASSERT_EQ(*object->json(), *want);
      ASSERT_EQ(object->bytes(), want->size());
    }
    auto watch = shop->watch(pods(), "", shop->stats().windowStart, nullptr);
    const auto events = takeAll(*watch, 100);
    ASSERT_EQ(events.size(), 500u);
    for (const Event& event : events)
      ASSERT_NE(event.previous->json()->find(event.object->name()), std::string::npos);
  };
  check();
  shop.reopen();
  check();
}

}  // namespace
}  // namespace mangrove::store

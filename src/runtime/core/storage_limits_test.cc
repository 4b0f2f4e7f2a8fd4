#include "runtime/core/storage_limits.h"

#include <gtest/gtest.h>

#include "api/wire/decode.h"

namespace mangrove::runtime {
namespace {

RunPod pod(const std::string& volumes, const std::string& limits) {
  return *api::decodeText<RunPod>(
      R"({"metadata":{"name":"p","uid":"u"},"spec":{"volumes":[)" + volumes +
      R"(],"containers":[{"name":"main","resources":{"limits":{)" + limits + "}}}]}}");
}

constexpr const char* kScratch = R"({"name":"scratch","emptyDir":{"sizeLimit":"1Mi"}})";
constexpr const char* kMemory =
    R"({"name":"scratch","emptyDir":{"medium":"Memory","sizeLimit":"1Mi"}})";
constexpr const char* kLimit = R"("ephemeral-storage":"2Mi")";
constexpr int64_t kMi = 1 << 20;

TEST(StorageLimits, AreLookedForOnlyWhereThereAreSome) {
  EXPECT_FALSE(hasStorageLimits(pod("", "")));
  EXPECT_FALSE(hasStorageLimits(pod(kMemory, "")));
  EXPECT_TRUE(hasStorageLimits(pod(kScratch, "")));
  EXPECT_TRUE(hasStorageLimits(pod("", kLimit)));
}

TEST(StorageLimits, EvictWhoGoesBeyond) {
  const RunPod both = pod(kScratch, kLimit);
  EXPECT_FALSE(storageTrouble(both, {}));
  EXPECT_FALSE(storageTrouble(both, {{{"scratch", kMi}}, {{"main", kMi}}}));
  EXPECT_NE(storageTrouble(both, {{{"scratch", kMi + 1}}, {}})->find("EmptyDir volume \"scratch\""),
            std::string::npos);
  EXPECT_NE(storageTrouble(both, {{}, {{"main", 2 * kMi + 1}}})->find("Container main exceeded"),
            std::string::npos);
  EXPECT_NE(storageTrouble(both, {{{"scratch", kMi}}, {{"main", kMi + 1}}})->find("total limit"),
            std::string::npos);
  EXPECT_FALSE(storageTrouble(pod(kMemory, ""), {{{"scratch", 9 * kMi}}, {}}));
}

}  // namespace
}  // namespace mangrove::runtime

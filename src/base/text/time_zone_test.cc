#include "base/text/time_zone.h"

#include <gtest/gtest.h>

#include "base/text/time_text.h"

namespace mangrove {
namespace {

WallTime at(const char* text) {
  return parseTime(text).value();
}

std::string number(uint64_t value, int width) {
  std::string out;
  for (int i = width - 1; i >= 0; --i) out += static_cast<char>(value >> (8 * i));
  return out;
}

// One change, as RFC 8536 lays it out: +1 h until `moment`, then the type with that index (1: +2
// h).
std::string block(const std::string& magic, uint64_t moment, int width, char type = 1) {
  std::string out = magic + std::string(20 - magic.size(), '\0');
  for (uint64_t count : {0, 0, 0, 1, 2, 4}) out += number(count, 4);
  return out + number(moment, width) + type + number(3600, 4) + std::string(2, '\0') +
         number(7200, 4) + std::string("\1\0", 2) + "ABC" + '\0';
}

TEST(TimeZone, HasFixedOffsets) {
  const WallTime now = at("2026-03-01T00:00:00Z");
  EXPECT_EQ(TimeZone::load("")->offsetAt(now).count(), 0);
  EXPECT_EQ(TimeZone::load("UTC")->offsetAt(now).count(), 0);
  EXPECT_EQ(TimeZone::load("+08:00")->offsetAt(now).count(), 8 * 3600);
  EXPECT_EQ(TimeZone::load("-03:30")->offsetAt(now).count(), -12600);
}

TEST(TimeZone, RefusesWhatIsNoZone) {
  for (const char* name : {"../../etc/passwd", "/etc/passwd", "Mars/Olympus", "+99:00", "+x"}) {
    const auto zone = TimeZone::load(name);
    ASSERT_FALSE(zone) << name;
    EXPECT_NE(zone.error().text().find(name), std::string::npos) << zone.error().text();
  }
  EXPECT_FALSE(TimeZone::parse("TZif"));
  EXPECT_FALSE(TimeZone::parse(std::string(44, '\0')));
  EXPECT_FALSE(TimeZone::parse(block("TZif", 1000000, 4, 2))) << "there is no third type";
}

TEST(TimeZone, FollowsTheChangesOfAFile) {
  for (const auto& file :
       {block("TZif", 1774746000, 4),
        block("TZif2", 1774746000, 4) + block("TZif2", 1774746000, 8) + "\n\n"}) {
    const auto zone = TimeZone::parse(file);
    ASSERT_TRUE(zone) << zone.error().text();
    EXPECT_EQ(zone->offsetAt(at("2026-03-29T00:59:59Z")), std::chrono::hours(1));
    EXPECT_EQ(zone->offsetAt(at("2026-03-29T01:00:00Z")), std::chrono::hours(2));
    EXPECT_EQ(zone->momentOf(at("2026-04-01T12:00:00Z")), at("2026-04-01T10:00:00Z"));
  }
}

TEST(TimeZone, RefusesEveryFileThatIsCutShort) {
  const std::string file = block("TZif2", 5, 4) + block("TZif2", 5, 8);
  for (size_t cut = 0; cut < file.size(); cut++)
    EXPECT_FALSE(TimeZone::parse(file.substr(0, cut))) << cut;
}

}  // namespace
}  // namespace mangrove

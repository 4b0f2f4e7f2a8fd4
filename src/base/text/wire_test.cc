#include "base/text/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mangrove {
namespace {

using ::testing::HasSubstr;
using namespace std::string_view_literals;

TEST(Wire, NumbersAreReadAsWritten) {
  for (uint64_t value : {uint64_t{0}, uint64_t{1}, uint64_t{127}, uint64_t{128}, uint64_t{300},
                         uint64_t{1} << 35, ~uint64_t{0}}) {
    std::string bytes;
    appendVarint(value, bytes);
    WireReader in(bytes);
    EXPECT_EQ(*in.varint(), value);
    EXPECT_TRUE(in.done());
  }
  std::string bytes;
  appendFixed64(3, 0x0123456789abcdef, bytes);
  WireReader in(bytes);
  EXPECT_EQ(in.tag()->number, 3u);
  EXPECT_EQ(*in.fixed64(), 0x0123456789abcdefu);
}

TEST(Wire, LengthsOfNestedMessagesAreFilledIn) {
  std::string bytes;
  const std::string big(300, 'x');
  appendNested(1, bytes, [&](std::string& inner) { appendBytes(2, big, inner); });
  WireReader in(bytes);
  ASSERT_EQ(in.tag()->number, 1u);
  WireReader inner(*in.bytes());
  EXPECT_EQ(inner.tag()->number, 2u);
  EXPECT_EQ(*inner.bytes(), big);
  EXPECT_TRUE(in.done());
}

TEST(Wire, SkipsEveryType) {
  std::string bytes;
  appendNumber(1, 5, bytes);
  appendFixed64(2, 5, bytes);
  appendBytes(3, "abc", bytes);
  appendTag(4, WireType::kFixed32, bytes);
  bytes += "1234";
  appendTag(5, WireType::kStartGroup, bytes);
  appendTag(6, WireType::kStartGroup, bytes);
  appendBytes(7, "inside", bytes);
  appendTag(6, WireType::kEndGroup, bytes);
  appendTag(5, WireType::kEndGroup, bytes);
  WireReader in(bytes);
  while (!in.done()) ASSERT_TRUE(in.skip(*in.tag()).has_value());
}

TEST(Wire, HostileBytesAreRefusedWithASentence) {
  struct Row {
    std::string_view bytes;
    const char* want;
  };
  const Row kRows[] = {
      {"\x80"sv, "ends within a number"},
      {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv, "more than 10 bytes"},
      {"\x02\x00"sv, "0 is no field number"},
      {"\xf8\xff\xff\xff\xff\x01\x00"sv, "is no field number"},
      {"\x0e\x00"sv, "wire type 6"},
      {"\x0a\x05"
       "ab"sv,
       "5 bytes are announced, 2 are there"},
      {"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv, "are announced, 0 are there"},
      {"\x09\x01\x02"sv, "8 bytes are announced"},
      {"\x0d\x01"sv, "4 bytes are announced"},
      {"\x0c"sv, "a group ends that never began"},
      {"\x0b\x0b\x0c"sv, "ends within a number"},
  };
  for (const Row& row : kRows) {
    WireReader in(row.bytes);
    auto tag = in.tag();
    const std::string text = tag ? in.skip(*tag).error().text() : tag.error().text();
    EXPECT_THAT(text, HasSubstr(row.want));
  }
}

TEST(Wire, AMillionOpenGroupsUseNoStack) {
  const std::string bytes(1000000, '\x0b');
  WireReader in(bytes);
  EXPECT_FALSE(in.skip(*in.tag()).has_value());
}

}  // namespace
}  // namespace mangrove

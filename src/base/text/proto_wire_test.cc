#include "base/text/proto_wire.h"

#include <gtest/gtest.h>

namespace mangrove {
namespace {

TEST(ProtoWire, WritesWhatOthersRead) {
  ProtoWriter inner;
  inner.numberAlways(1, 0);
  ProtoWriter out;
  out.number(1, 150).text(2, "testing").number(3, 0).number(4, -1).message(5, inner.bytes());
  EXPECT_EQ(out.bytes(), std::string("\x08\x96\x01\x12\x07testing\x20\xff\xff\xff\xff\xff\xff\xff"
                                     "\xff\xff\x01\x2a\x02\x08\x00",
                                     27));
  ProtoReader in(out.bytes());
  EXPECT_EQ(in.next()->value, 150);
  EXPECT_EQ(in.next()->bytes, "testing");
  EXPECT_EQ(in.next()->value, -1);
  EXPECT_EQ(in.next()->number, 5u);
  EXPECT_FALSE(in.next());
  EXPECT_FALSE(in.broken());
}

TEST(ProtoWire, BrokenBytesEndTheReading) {
  for (std::string_view bytes :
       {std::string_view("\x08"),
        std::string_view("\x12\x05"
                         "abc"),
        std::string_view("\x00\x01", 2), std::string_view("\x0b"),
        std::string_view("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff")}) {
    ProtoReader in(bytes);
    EXPECT_FALSE(in.next());
    EXPECT_TRUE(in.broken());
  }
  ProtoReader fixed(
      std::string_view("\x09"
                       "12345678"
                       "\x0d"
                       "1234"));
  EXPECT_EQ(fixed.next()->bytes, "12345678");
  EXPECT_EQ(fixed.next()->bytes, "1234");
}

}  // namespace
}  // namespace mangrove

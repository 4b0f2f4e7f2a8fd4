#include "base/text/encoding.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace mangrove {
namespace {

TEST(EncodingTest, Base64OfRfc4648) {
  struct Row {
    const char *plain, *encoded;
  };
  for (const Row& row : std::vector<Row>{{"", ""},
                                         {"f", "Zg=="},
                                         {"fo", "Zm8="},
                                         {"foo", "Zm9v"},
                                         {"foob", "Zm9vYg=="},
                                         {"fooba", "Zm9vYmE="},
                                         {"foobar", "Zm9vYmFy"},
                                         {"\xfb\xff", "+/8="}}) {
    EXPECT_EQ(base64Encode(row.plain), row.encoded);
    EXPECT_EQ(base64Decode(row.encoded).value(), row.plain);
  }
  EXPECT_EQ(base64UrlEncode("\xfb\xff"), "-_8");
  EXPECT_EQ(base64UrlDecode("-_8").value(), "\xfb\xff");
  EXPECT_EQ(base64Decode("Zm9v\nYmFy\r\n").value(), "foobar");
}

TEST(EncodingTest, BadBase64IsRefused) {
  for (const char* text :
       {"Z", "Zg", "Zg=", "Zg===", "Zm9v=", "Zm8", "Zm 8=", "Zh==", "Zm9*", "=", "-_8="}) {
    EXPECT_FALSE(base64Decode(text)) << text;
  }
  EXPECT_FALSE(base64UrlDecode("+/8"));
}

TEST(EncodingTest, RoundTripOfAllBytes) {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  for (size_t length = 0; length <= all.size(); ++length) {
    const std::string part = all.substr(all.size() - length);
    EXPECT_EQ(base64Decode(base64Encode(part)).value(), part);
    EXPECT_EQ(base64UrlDecode(base64UrlEncode(part)).value(), part);
    EXPECT_EQ(hexDecode(hexEncode(part)).value(), part);
    EXPECT_EQ(percentDecode(percentEncode(part)).value(), part);
  }
}

TEST(EncodingTest, Hex) {
  EXPECT_EQ(hexEncode("\x01\xab"), "01ab");
  EXPECT_EQ(hexDecode("01AB").value(), "\x01\xab");
  EXPECT_FALSE(hexDecode("1"));
  EXPECT_FALSE(hexDecode("0g"));
}

TEST(EncodingTest, Percent) {
  EXPECT_EQ(percentEncode("app=web,tier!=db /ü~"), "app%3Dweb%2Ctier%21%3Ddb%20%2F%C3%BC~");
  EXPECT_EQ(percentDecode("a%3db+c").value(), "a=b+c");
  EXPECT_EQ(percentDecode("a+b", true).value(), "a b");
  for (const char* text : {"%", "%4", "a%zz", "%%20"}) EXPECT_FALSE(percentDecode(text)) << text;
}

}  // namespace
}  // namespace mangrove

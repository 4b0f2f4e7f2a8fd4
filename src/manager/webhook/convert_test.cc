#include "manager/webhook/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mangrove::manager {
namespace {

using ::testing::HasSubstr;

TEST(Convert, TheSameObjectUnderTheOtherName) {
  const auto answer = convertReview(
      R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"u1","desiredAPIVersion":"slo.koordinator.sh/v1beta1","objects":[{"apiVersion":"slo.koordinator.sh/v1alpha1","kind":"NodeSLO","spec":{"a":1}}]}})");
  ASSERT_TRUE(answer);
  EXPECT_EQ(
      *answer,
      R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","response":{"uid":"u1","convertedObjects":[{"apiVersion":"slo.koordinator.sh/v1beta1","kind":"NodeSLO","spec":{"a":1}}],"result":{"status":"Success"}}})");
}

TEST(Convert, AnotherGroupIsRefusedInTheAnswer) {
  const auto answer = convertReview(
      R"({"request":{"uid":"u1","desiredAPIVersion":"apps/v1","objects":[{"apiVersion":"v1","kind":"Pod"}]}})");
  ASSERT_TRUE(answer);
  EXPECT_THAT(*answer, HasSubstr("cannot convert v1 to apps/v1"));
}

TEST(Convert, MalformedReviewsAreNamed) {
  EXPECT_FALSE(convertReview("{"));
  EXPECT_FALSE(convertReview("[]"));
  EXPECT_THAT(convertReview(R"({"request":{}})").error().text(), HasSubstr("desiredAPIVersion"));
  EXPECT_THAT(*convertReview(R"({"request":{"uid":"u","desiredAPIVersion":"a/v1","objects":[7]}})"),
              HasSubstr("Failure"));
}

}  // namespace
}  // namespace mangrove::manager

#include "base/os/code_pages.h"

#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "base/os/files.h"
#include "base/text/strings.h"

namespace mangrove {
namespace {

// Resident pages with a file behind them, from /proc/self/statm.
int64_t filePages() {
  const auto text = readFile("/proc/self/statm");
  return text ? std::stoll(std::string(split(*text, ' ').at(2))) : -1;
}

// All resident pages, in bytes.
int64_t residentBytes() {
  const auto text = readFile("/proc/self/statm");
  return text ? std::stoll(std::string(split(*text, ' ').at(1))) * 4096 : -1;
}

TEST(CodePages, GoBackAndReturnWhenNeeded) {
  const int64_t before = filePages();
  releaseCodePages();
  const int64_t after = filePages();
  ASSERT_GT(before, 0);
  EXPECT_LT(after, before);
}

TEST(CodePages, WhatTheHeapKeepsFreeGoesToo) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's heap keeps what was freed, to notice its use";
#endif
  // Small pieces with one that stays behind them: the heap cannot shrink by itself.
  constexpr size_t kPieces = 4096, kSize = 4096;
  std::vector<std::unique_ptr<char[]>> pieces;
  for (size_t i = 0; i < kPieces; ++i) {
    pieces.push_back(std::make_unique<char[]>(kSize));
    pieces.back()[0] = 1;
  }
  const auto last = std::make_unique<char[]>(kSize);
  pieces.clear();
  const int64_t before = residentBytes();
  releaseUnusedMemory();
  EXPECT_LT(residentBytes(), before - static_cast<int64_t>(kPieces * kSize / 2));
}

}  // namespace
}  // namespace mangrove

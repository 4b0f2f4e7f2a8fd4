#pragma once
// What `mangrove top` shows: the same rows as the pages, laid out for a terminal of any size.
//
//   TopPicture picture{.nodes = …, .pods = …};
//   for (const std::string& line : renderTop(picture, {.width = 80, .height = 24})) puts(line);
//
// Pure functions, any thread. Colour never carries meaning alone: each class has its own letter.

#include <cstdint>
#include <string>
#include <vector>

#include "base/number/units.h"
#include "json/value.h"

namespace mangrove::dashboard {

struct TopPicture {
  json::Array nodes;      // nodeRows
  json::Array pods;       // podRows
  json::Value tick;       // tickOf, or null without an agent beside us
  json::Array decisions;  // newest first
  json::Array quotas;     // quotaBoard's, where they were asked for
  json::Array loans;
  std::string trouble;  // why this picture is old; "" when it is not
  WallTime at{};
};

enum class TopSort { kCpu, kMemory, kName };

struct TopView {
  int width = 80;
  int height = 24;
  bool colour = false;
  TopSort sort = TopSort::kCpu;
  bool podsOnly = false;  // the pods take the nodes' place
  bool byQuota = false;   // the quotas take the place of both
  size_t skip = 0;        // pods scrolled past
};

// At most `height` lines of at most `width` columns each, without line ends.
std::vector<std::string> renderTop(const TopPicture& picture, const TopView& view);
// Everything, however long: for --once.
std::string printTop(const TopPicture& picture, const TopView& view);

// How a key changes the view; false for keys that mean nothing.
bool turnKey(char key, const TopPicture& picture, TopView& view);

}  // namespace mangrove::dashboard

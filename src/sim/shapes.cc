#include "sim/shapes.h"

namespace mangrove::sim {
namespace {

constexpr Shape kShapes[] = {
    {.name = "commerce",
     .about = "services with a strong day and campaigns, short batch tasks",
     .nodeCores = 32,
     .nodeGi = 128,
     .requested = 0.75,
     .used = 0.35,
     .daily = 0.6,
     .weekend = 1.1,
     .together = 0.8,
     .ownBursts = 0.5,
     .commonBursts = 1.0,
     .burstHeight = 0.5,
     .noise = 0.1,
     .deploys = 2,
     .giPerCore = 3,
     .taskCores = 1.5,
     .taskGi = 3,
     .taskMinutes = 20,
     .taskSpread = 1.0,
     .batchLoad = 0.9,
     .outages = 0.3},
    {.name = "cells",
     .about = "flat use, everything with long tails",
     .nodeCores = 64,
     .nodeGi = 256,
     .requested = 0.65,
     .used = 0.5,
     .daily = 0.2,
     .weekend = 0.9,
     .together = 0.4,
     .ownBursts = 1.0,
     .commonBursts = 0.2,
     .burstHeight = 0.7,
     .noise = 0.2,
     .deploys = 1,
     .giPerCore = 3,
     .taskCores = 2,
     .taskGi = 4,
     .taskMinutes = 30,
     .taskSpread = 1.8,
     .batchLoad = 0.9,
     .outages = 0.5},
    {.name = "tenants",
     .about = "low use, offices that open and close, long batch tasks",
     .nodeCores = 48,
     .nodeGi = 192,
     .requested = 0.85,
     .used = 0.2,
     .daily = 0.8,
     .weekend = 0.4,
     .together = 0.6,
     .ownBursts = 2.0,
     .commonBursts = 0.1,
     .burstHeight = 1.0,
     .noise = 0.15,
     .deploys = 0.5,
     .giPerCore = 3,
     .taskCores = 3,
     .taskGi = 6,
     .taskMinutes = 90,
     .taskSpread = 1.2,
     .batchLoad = 0.9,
     .outages = 0.2},
};

}  // namespace

std::span<const Shape> shapes() {
  return kShapes;
}

const Shape* findShape(std::string_view name) {
  for (const Shape& shape : kShapes)
    if (shape.name == name) return &shape;
  return nullptr;
}

}  // namespace mangrove::sim

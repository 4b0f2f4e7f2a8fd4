#pragma once
// What admission would say of a pod as it is written: its QoS label, and whether that goes with its
// priority. Pure.

#include <string>

#include "api/pod/pod.h"

namespace mangrove::cli {

// "ok", or a sentence that names the label, its value and what would be right.
std::string verdictOn(const api::Pod& pod);

}  // namespace mangrove::cli

#pragma once
// How a pressure trigger is written, so that trees of files can be tested with a stand-in: they would
// lose their text, and never wake anybody.
//
//   setArmTrigger([](int, std::string_view) { return true; });
//
// Set it before the first trigger is opened, from the thread that opens them.

#include <string_view>

namespace mangrove::kernel {

using ArmTrigger = bool (*)(int fd, std::string_view text);
void setArmTrigger(ArmTrigger arm);  // nullptr: the kernel's own

}  // namespace mangrove::kernel

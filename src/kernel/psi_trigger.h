#pragma once
// Asks the kernel to wake us when tasks stalled for longer than a threshold within a window.
// Kernels demand windows that are multiples of 2 s from callers without CAP_SYS_RESOURCE; open()
// then takes 2 s with the same share of stall.
//
//   auto trigger = PsiTrigger::open(dir, "cpu.pressure", {.stall = 150ms, .window = 1s});
//   poll(trigger->fd(), POLLPRI)
//
// The descriptor must stay open: closing it removes the trigger. One owner.

#include <string_view>

#include "base/number/units.h"
#include "base/result.h"
#include "kernel/dir.h"
#include "kernel/file.h"

namespace mangrove::kernel {

struct PsiThreshold {
  Duration stall{};
  Duration window{};
  bool full = false;  // all tasks, not some
};

// The window the kernel accepts when it refuses a short one, with the stall scaled alike.
PsiThreshold widened(const PsiThreshold& wanted);

class PsiTrigger {
 public:
  static Result<PsiTrigger> open(const Dir& dir, std::string_view file, const PsiThreshold& wanted);
  int fd() const { return file_.fd(); }
  const PsiThreshold& threshold() const { return threshold_; }  // as it was accepted

 private:
  PsiTrigger(File file, PsiThreshold threshold) : file_(std::move(file)), threshold_(threshold) {}
  File file_;
  PsiThreshold threshold_;
};

}  // namespace mangrove::kernel

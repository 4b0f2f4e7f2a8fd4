#include "kernel/psi_trigger.h"

#include <cerrno>
#include <chrono>

#include <unistd.h>

#include "kernel/psi_seam.h"

namespace mangrove::kernel {
namespace {

constexpr Duration kUnprivilegedWindow = std::chrono::seconds(2);

std::string textOf(const PsiThreshold& threshold) {
  using std::chrono::microseconds;
  const auto us = [](Duration d) { return std::chrono::duration_cast<microseconds>(d).count(); };
  return fmt::format("{} {} {}", threshold.full ? "full" : "some", us(threshold.stall),
                     us(threshold.window));
}

ArmTrigger standIn = nullptr;

// write, not pwrite as files of cgroups take: those of proc have no position.
bool arm(int fd, const std::string& text) {
  if (standIn != nullptr) return standIn(fd, text);
  return ::write(fd, text.c_str(), text.size() + 1) > 0;
}

}  // namespace

void setArmTrigger(ArmTrigger trigger) {
  standIn = trigger;
}

PsiThreshold widened(const PsiThreshold& wanted) {
  if (wanted.window.count() <= 0) return wanted;
  const auto times = (wanted.window + kUnprivilegedWindow - Duration(1)) / kUnprivilegedWindow;
  const Duration window = kUnprivilegedWindow * times;
  const double share =
      static_cast<double>(wanted.stall.count()) / static_cast<double>(wanted.window.count());
  return {Duration(static_cast<int64_t>(share * static_cast<double>(window.count()))), window,
          wanted.full};
}

Result<PsiTrigger> PsiTrigger::open(const Dir& dir, std::string_view file,
                                    const PsiThreshold& wanted) {
  Error last(Code::kUnsupported, "no trigger was tried");
  for (const PsiThreshold& threshold : {wanted, widened(wanted)}) {
    auto opened = dir.open(file, Access::kReadWrite);
    if (!opened) return opened.error().in("pressure trigger");
    const std::string text = textOf(threshold);
    if (arm(opened->fd(), text)) return PsiTrigger(*std::move(opened), threshold);
    last = failErrno(errno, "write '" + text + "'").value();
  }
  return last.in("pressure trigger on {}/{}", dir.path(), file);
}

}  // namespace mangrove::kernel

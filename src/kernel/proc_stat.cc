#include "kernel/proc_stat.h"

#include "kernel/scan.h"

namespace mangrove::kernel {
namespace {

// user nice system idle iowait irq softirq: older kernels stop there, newer ones go on.
constexpr int kColumns = 7;

Result<Ticks> busyOf(std::string_view line, Words& words) {
  Ticks ticks;
  for (int column = 0; column < kColumns; ++column) {
    const auto value = words.number<uint64_t>();
    if (!value) return invalid("stat line '{}': column {} is no number", line, column + 1);
    if (column == 3 || column == 4) continue;
    if (__builtin_add_overflow(ticks.busy, *value, &ticks.busy))
      return invalid("stat line '{}': more ticks than 64 bits hold", line);
  }
  return ticks;
}

}  // namespace

Result<Ticks> nodeTicks(std::string_view text) {
  for (Lines lines(text); lines.next();) {
    Words words(lines.line);
    if (words.next() && words.word == "cpu") return busyOf(lines.line, words);
  }
  return invalid("stat has no line 'cpu'");
}

Result<> perCpuTicks(std::string_view text, PerCpuFn each, void* context) {
  bool any = false;
  for (Lines lines(text); lines.next();) {
    Words words(lines.line);
    if (!words.next() || !words.word.starts_with("cpu") || words.word.size() == 3) continue;
    const auto cpu = parseInt<int>(words.word.substr(3));
    if (!cpu || *cpu < 0) return invalid("stat line '{}': '{}' is no CPU", lines.line, words.word);
    auto ticks = busyOf(lines.line, words);
    if (!ticks) return pass(ticks.error());
    each(context, *cpu, *ticks);
    any = true;
  }
  if (!any) return invalid("stat has no line 'cpu0' or any other single CPU");
  return {};
}

std::map<int, InterruptTicks> interruptTicks(std::string_view text) {
  std::map<int, InterruptTicks> out;
  for (Lines lines(text); lines.next();) {
    Words words(lines.line);
    if (!words.next() || !words.word.starts_with("cpu") || words.word.size() == 3) continue;
    const auto cpu = parseInt<int>(words.word.substr(3));
    InterruptTicks ticks;
    int column = 0;
    for (; column < kColumns; ++column) {
      const auto value = words.number<uint64_t>();
      if (!value) break;
      ticks.all += *value;
      if (column >= 5) ticks.interrupts += *value;
    }
    if (cpu && *cpu >= 0 && column == kColumns) out[*cpu] = ticks;
  }
  return out;
}

}  // namespace mangrove::kernel

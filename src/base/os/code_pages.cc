#include "base/os/code_pages.h"

#include <cstdint>
#include <string_view>

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

namespace mangrove {
namespace {

// Only whole pages of segments nobody writes: these are equal to the file at any time.
void releaseSegment(uintptr_t base, const ElfW(Phdr) & segment) {
  if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) return;
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const uintptr_t begin = (base + segment.p_vaddr + page - 1) / page * page;
  const uintptr_t end = (base + segment.p_vaddr + segment.p_memsz) / page * page;
  if (begin >= end) return;
  // Advice: a kernel that refuses it leaves everything as it was.
  (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

int releaseObject(dl_phdr_info* object, size_t, void*) {
  // The kernel's own object has no file behind it.
  if (std::string_view(object->dlpi_name).starts_with("linux-vdso")) return 0;
  for (int i = 0; i < object->dlpi_phnum; ++i)
    releaseSegment(object->dlpi_addr, object->dlpi_phdr[i]);
  return 0;
}

}  // namespace

void releaseCodePages() {
  ::dl_iterate_phdr(releaseObject, nullptr);
}

void releaseUnusedMemory() {
  ::malloc_trim(0);
  releaseCodePages();
}

}  // namespace mangrove

#pragma once
// Gives code that only a start needed back to the machine. The kernel maps code in pieces of 64 KiB
// around each fault, so a process that read its configuration, listed a cluster and shook hands
// over TLS carries megabytes it never looks at again. What is needed later is mapped again from the
// page cache.
//
//   releaseCodePages();     // any thread, at a quiet moment: a millisecond, and minor faults later
//   releaseUnusedMemory();  // that, and what the heap keeps though nobody uses it

namespace mangrove {

void releaseCodePages();
void releaseUnusedMemory();

}  // namespace mangrove

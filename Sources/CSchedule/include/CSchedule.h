// The C library has no function for what the kernel offers here.
#ifndef CSCHEDULE_H
#define CSCHEDULE_H

/// Asks that the calling thread get its share of the processors in pieces of so many nanoseconds, 100,000 at the least.
///
/// A kernel before 6.12 takes no notice. 0, or -1 where the kernel refuses.
int cschedule_slice(unsigned long long nanoseconds);
#endif

/* A mark at which tests let the process die (kvspace/fault.h), between two stores of the core. In a release build it is nothing.
 * Relies on kvspace/fault.c. */
#ifndef CORE_MARK_H
#define CORE_MARK_H

#ifdef NDEBUG
#define MARK() ((void)0)
#else
void fault_step(void);
#define MARK() fault_step()
#endif

#endif

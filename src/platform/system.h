/* What one system has and another has not, for the files of this folder alone.
 * Relies on the system's headers. Promises: after it, the SYSTEM_ names mean the same everywhere. */
#ifndef PLATFORM_SYSTEM_H
#define PLATFORM_SYSTEM_H

#include "platform/platform.h"

#include <fcntl.h>
#include <sys/mman.h>

#ifdef __APPLE__
/* Open-file-description locks are in Darwin's kernel, but not in its public headers. */
#define SYSTEM_OFD_SETLK 90
#define SYSTEM_OFD_SETLKW 91
#define SYSTEM_OFD_GETLK 92
#define SYSTEM_MAP_LAZY 0
#else
#define SYSTEM_OFD_SETLK F_OFD_SETLK
#define SYSTEM_OFD_SETLKW F_OFD_SETLKW
#define SYSTEM_OFD_GETLK F_OFD_GETLK
#define SYSTEM_MAP_LAZY MAP_NORESERVE
#endif

/* Remembers the errno value for platform_errno_text and gives its code. */
enum platform_code system_failed(int error);
/* Fills what lies behind the end of the file with zeros, up to at + bytes. */
enum platform_code system_write_zeros(int fd, uint64_t at, uint64_t bytes);

#endif

/* The forms of an export, shared by export.c and import.c. Relies on nothing.
 *
 * JSON: an array of objects, one a key, in the order in which an import must set them:
 *     {"key": K, "type": T, "value": V}       V in JSON where that is exact: bool, integers, floats, strings
 *     {"key": K, "type": T, "literal": L}     the literal of any other value
 *     {"key": K, "type": T, "body": HEX}      the bytes of a value that has no literal; of a word with "store": "atom"
 *     {"key": K, "type": T, "store": "index"} a container; its members are keys of their own and come after it
 *     {"key": K, "type": T, "pointer": B}  {"key": K, "type": T, "external": L}     T is what they point to, or ""
 * each with "ro": true where it is read-only. An overlay is exported as the container that it shows.
 *
 * Stream: EXPORT_MAGIC, then for each key u32 bytes of the key, u32 of the head, both little-endian, the key, the head as
 * kvspace_head_encode gives it, the body; at the end a u32 0 and the u64 number of keys. */
#ifndef KVSPACE_EXPORT_H
#define KVSPACE_EXPORT_H

#define EXPORT_MAGIC "\x89kvstream\x01\r\n"
enum { EXPORT_MAGIC_BYTES = sizeof EXPORT_MAGIC - 1, EXPORT_HEAD_MAX = 8192 };

#endif

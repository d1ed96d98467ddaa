// Package cmdflags has the flags and arguments that several commands take: what registers
// them, checks them, and makes options of them. A command adds its own.
package cmdflags

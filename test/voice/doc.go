// Package voice checks how lynqctl speaks: its helps, its messages, and the pages of its
// documentation. The rules are those that a program can check. exceptions.txt lists the
// sentences that break one, and may only shrink.
package voice

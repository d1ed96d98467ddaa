// Package voice checks the language of lynqctl: its helps, its messages, and the pages of
// its documentation.
//
// Sources and pages flow in, sentences that break a rule flow out. It has only rules that a
// program can check. exceptions.txt lists the sentences that break one, and may only
// shrink. The package contains only tests.
package voice

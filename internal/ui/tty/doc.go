// Package tty has the streams that people read, and formats the text for them.
//
// Text flows in, escaped text flows out. A Stream knows whether it is a terminal, how wide
// it is, and whether it shows colours. Safe and the streams escape unprintable characters,
// so text from rows or the cluster never reaches a terminal unchanged. Paint colours text.
// Flow and Cut fit it to the width of a terminal. Confirm asks a person at a terminal.
package tty

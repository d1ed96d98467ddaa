// Package recordings draws terminals for the documentation: a command of a console block and
// what it prints, as SVG, light and dark. The tests run these blocks, so a recording shows
// what lynqctl prints.
//
// In a page
//
//	<!-- recording NAME
//	COMMAND
//	-->
//
// records commands of the next block of the console, one a line, and what they print.
// 'make recordings' writes docs/recordings/NAME-light.svg and NAME-dark.svg.
package recordings

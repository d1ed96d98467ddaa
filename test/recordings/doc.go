// Package recordings draws terminals for the documentation: a command of a console block
// and its output, as SVG, light and dark.
//
// Pages flow in, SVG files flow out. Other tests run the blocks, so a recording shows what
// lynqctl prints. This package runs nothing.
//
// In a page
//
//	<!-- recording NAME
//	COMMAND
//	-->
//
// records commands of the next console block, one per line, with their outputs. 'make
// recordings' writes docs/recordings/NAME-light.svg and NAME-dark.svg.
package recordings

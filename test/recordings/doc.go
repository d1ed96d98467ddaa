// Package recordings draws terminals and pictures for the documentation as SVG, light and
// dark. A terminal shows a command of a console block and its output. A picture has boxes and
// arrows, and the chart has the numbers of docs/performance.md.
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
// recordings' writes docs/recordings/NAME-light.svg and NAME-dark.svg. With "comment" instead
// of "recording", the output is Markdown, drawn as GitHub shows a comment on a pull request.
package recordings

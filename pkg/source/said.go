package source

import (
	"errors"
	"net"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
)

// said removes the values of rows that a server quotes in its error. It also removes the
// local port of a broken connection, because each attempt has another one, and watch logs
// each new message. It returns any other error unchanged.
func said(err error) error {
	if broken, ok := errors.AsType[*net.OpError](err); ok && broken.Source != nil {
		return broken.Err
	}
	all := readers()
	for _, t := range endpoint.Types() {
		if all[t].said == nil {
			continue
		}
		if told := all[t].said(err); told != nil {
			return told
		}
	}
	return err
}

// withoutValues shortens a server's message as its SQLSTATE requires. Messages about
// access, names and connections quote only names. Others may quote values, so it cuts from
// the first quotation mark to the last. It drops messages that a function of the database
// raised, because they may have anything. A view can also look for a table, type, function,
// schema or file that has the name of a value.
func withoutValues(state, message string) string {
	class := state[:min(len(state), 2)]
	names := []string{"08", "0A", "25", "28", "3D", "3F", "40", "42", "53", "54", "55", "57", "58"}
	const marks = "'\"`«»„“”‘’「」"
	first, last := strings.IndexAny(message, marks), strings.LastIndexAny(message, marks)
	ofViews := []string{"42P01", "42704", "42883", "42602", "3F000", "58P01"}
	switch {
	case slices.Contains(names, class) && !slices.Contains(ofViews, state):
		return message
	case class == "P0" || class == "45":
		return "an error that the database raises itself, whose text may hold values of rows: it is in the server's log"
	case first < 0:
		return message
	case first == last:
		return message[:first] + "..."
	}
	_, size := utf8.DecodeRuneInString(message[last:])
	return message[:first] + "..." + message[last+size:]
}

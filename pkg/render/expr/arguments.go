package expr

import (
	"fmt"
	"reflect"
	"strings"
	"text/template/parse"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render/funcs"
)

// arguments checks the number of a function's arguments.
func (c *checker) arguments(name string, n int) {
	var want int
	least := "at least "
	switch f := reflect.TypeOf(c.compiler.funcs[name]); {
	case f != nil && f.Kind() == reflect.Func:
		want = f.NumIn()
		if f.IsVariadic() {
			want--
		} else {
			least = ""
		}
	case name == "len":
		want, least = 1, ""
	case name == "index" || name == "call" || name == "and" || name == "or":
		want = 1
	default:
		return // an unknown function
	}
	if n < want || n > want && least == "" {
		c.found("", "function %s takes %s%d arguments, it gets %d", name, least, want, n)
	}
}

// literals finds arguments that no row makes right. piped is the number of arguments that
// come through the pipe.
func (c *checker) literals(name string, args []parse.Node, piped int, d dot) {
	f := reflect.TypeOf(c.compiler.funcs[name])
	if f == nil {
		return
	}
	for i, arg := range args {
		if i < f.NumIn() && (!f.IsVariadic() || i < f.NumIn()-1) {
			c.wholeNumber(name, i, f.In(i), arg, d)
		}
	}
	if name == "dict" && (len(args)+piped)%2 != 0 {
		c.found("add a value for the last key", "function dict takes keys and values in turn, and it gets %d arguments", len(args)+piped)
	}
	if len(args) == 0 {
		return
	}
	if first, ok := args[0].(*parse.StringNode); ok {
		c.literal(name, first.Text, args[1:], piped, d)
	}
}

// literal checks a function's first argument.
func (c *checker) literal(name, text string, others []parse.Node, piped int, d dot) {
	var err error
	if name == "printf" {
		err = funcs.CheckFormat(text, len(others)+piped, func(i int) bool { return i < len(others) && c.isText(others[i], d) })
	} else {
		err = funcs.CheckLiteral(name, text)
	}
	if err != nil {
		c.found("", "function %s: %s", name, err)
	}
}

// wholeNumber refuses a text where a function takes a whole number.
func (c *checker) wholeNumber(name string, i int, param reflect.Type, arg parse.Node, d dot) {
	if k := param.Kind(); k != reflect.Int && k != reflect.Uint32 || !c.isText(arg, d) {
		return
	}
	fix := "write a number"
	if field, ok := arg.(*parse.FieldNode); ok {
		fix = fmt.Sprintf("convert it: (%s | int)", variableRef(field.Ident))
	}
	c.found(fix, "function %s takes a whole number as argument %d, it gets a text", name, i+1)
}

// isText reports whether an argument is certainly a text: a literal, or a variable of the
// row.
func (c *checker) isText(n parse.Node, d dot) bool {
	switch n := n.(type) {
	case *parse.StringNode:
		return true
	case *parse.FieldNode:
		return d == variables && c.scope.variable(n.Ident) != "" && !c.mutates
	case *parse.VariableNode:
		return n.Ident[0] == "$" && len(n.Ident) > 1 && c.scope.variable(n.Ident[1:]) != "" && c.dollarIsRow(d) && !c.mutates
	}
	return false
}

// variableRef writes a variable, or a field of a lookup, as templates do.
func variableRef(path []string) string {
	if len(path) > 1 {
		return "." + strings.Join(path, ".")
	}
	return lynq.VariableRef(path[0])
}

// Package initcmd is the use case of lynqctl init: the first hub and form for a table.
package initcmd

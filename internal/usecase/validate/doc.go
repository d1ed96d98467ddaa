// Package validate is the use case of lynqctl validate: it checks inputs, and on request
// the rows too.
package validate

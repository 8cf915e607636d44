// validate checks a JSON document, which it reads from standard input, against a schema:
//
//	go run ./.ci/validate [-as URL=FILE]... SCHEMA
//
// SCHEMA is a file, or a URL for which -as names a file. The tests of cmd/symtool run this
// program: if they linked the library, whose tables take 10 ms at each start, every start of
// symtool in a script would pay for them.
package main

import (
	"errors"
	"flag"
	"log"
	"os"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("validate: ")
	compiler := jsonschema.NewCompiler()
	flag.Func("as", "`URL=FILE`: a schema that others refer to", func(value string) error {
		url, file, ok := strings.Cut(value, "=")
		if !ok {
			return errors.New("want URL=FILE")
		}
		text, err := os.Open(file)
		if err != nil {
			return err
		}
		defer text.Close()
		document, err := jsonschema.UnmarshalJSON(text)
		if err != nil {
			return err
		}
		return compiler.AddResource(url, document)
	})
	flag.Parse()
	schema, err := compiler.Compile(flag.Arg(0))
	if err != nil {
		log.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(os.Stdin)
	if err == nil {
		err = schema.Validate(document)
	}
	if err != nil {
		log.Fatal(err)
	}
}

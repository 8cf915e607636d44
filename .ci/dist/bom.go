package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
)

// bom returns the program's modules as CycloneDX 1.6, from the build information that Go wrote
// into the program. The dependencies form no tree: each module is a dependency of the program.
func (r *release) bom(program []byte) ([]byte, error) {
	sum := sha256.Sum256(program)
	root := component("symtool", r.info.Main.Path, r.version, []string{"Apache-2.0"})
	root.Type = cyclonedx.ComponentTypeApplication
	root.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: fmt.Sprintf("%x", sum)}}
	var settings []cyclonedx.Property
	for _, s := range r.info.Settings {
		settings = append(settings, cyclonedx.Property{Name: "go:build:" + s.Key, Value: s.Value})
	}
	root.Properties = &settings

	components := []cyclonedx.Component{component("std", "std", strings.TrimPrefix(r.info.GoVersion, "go"), []string{"BSD-3-Clause"})}
	for _, d := range r.info.Deps {
		c := component(d.Path, d.Path, d.Version, r.licencesOf(d.Path))
		c.Properties = &[]cyclonedx.Property{{Name: "go:sum", Value: d.Sum}}
		components = append(components, c)
	}
	var refs []string
	dependencies := []cyclonedx.Dependency{{Ref: root.BOMRef, Dependencies: &refs}}
	for _, c := range components {
		refs = append(refs, c.BOMRef)
		dependencies = append(dependencies, cyclonedx.Dependency{Ref: c.BOMRef})
	}
	bom := cyclonedx.NewBOM()
	bom.SerialNumber = serialNumber(sum)
	bom.Metadata = &cyclonedx.Metadata{Timestamp: r.date.Format(time.RFC3339), Component: &root}
	bom.Components, bom.Dependencies = &components, &dependencies
	var b bytes.Buffer
	err := cyclonedx.NewBOMEncoder(&b, cyclonedx.BOMFileFormatJSON).SetPretty(true).SetEscapeHTML(false).EncodeVersion(bom, cyclonedx.SpecVersion1_6)
	return b.Bytes(), err
}

// serialNumber returns a UUID of version 8 (custom) that is derived from the program's checksum.
func serialNumber(program [sha256.Size]byte) string {
	id := sha256.Sum256(append([]byte("symtool SBOM"), program[:]...))
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:16])
}

func component(name, module, version string, licences []string) cyclonedx.Component {
	var list cyclonedx.Licenses
	for _, id := range licences {
		list = append(list, cyclonedx.LicenseChoice{License: &cyclonedx.License{ID: id}})
	}
	purl := "pkg:golang/" + module + "@" + strings.ReplaceAll(version, "+", "%2B")
	return cyclonedx.Component{Type: cyclonedx.ComponentTypeLibrary, BOMRef: purl, Name: name, Version: version, PackageURL: purl, Licenses: &list}
}

// licenceWords maps licences to words that only they contain.
var licenceWords = []struct{ id, words string }{
	{"Apache-2.0", "Apache License Version 2.0"},
	{"MIT", "Permission is hereby granted, free of charge, to any person obtaining a copy"},
	{"0BSD", "with or without fee is hereby granted. THE SOFTWARE"}, // ISC continues with "provided that"
	{"BSD-3-Clause", "may be used to endorse or promote products derived from this software without specific prior written permission"},
	{"BSD-2-Clause", "Redistributions in binary form must reproduce the above copyright notice"},
}

// licencesOf returns the SPDX identifiers of a module's licences.
func (r *release) licencesOf(module string) (ids []string) {
	var texts strings.Builder
	for _, n := range r.notices {
		if n.module == module {
			text := strings.ReplaceAll(string(n.text), "\n>", "\n") // some are quoted
			fmt.Fprintln(&texts, strings.Join(strings.Fields(text), " "))
		}
	}
	for _, l := range licenceWords {
		if strings.Contains(texts.String(), l.words) && (l.id != "BSD-2-Clause" || len(ids) == 0) {
			ids = append(ids, l.id)
		}
	}
	return ids
}

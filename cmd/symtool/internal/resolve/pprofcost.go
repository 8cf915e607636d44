package resolve

import (
	"encoding/binary"
	"fmt"
)

// Limits for the memory that a profile may take. In profile.proto an empty sample has two bytes, but takes a hundred
// times as many in memory; gzip reduces such samples to a thousandth. Profiles of real programs take 10 to 20 times
// their size in memory, and gzip reduces them to a tenth.
const (
	freeProfile    = 16 << 20
	perPackedByte  = 256 // bytes of memory for each byte of the file
	perProfileByte = 32  // bytes of memory for each byte of the decompressed profile
	maxGzipRatio   = 100
)

// recordCost is the memory that a field of a message takes.
type recordCost struct {
	size   int64        // bytes for each record, including references to it
	packed bool         // the field is a list of numbers, and size is for one number
	fields []recordCost // for a message: its own fields, by number
}

var (
	numberCost = recordCost{size: 16, packed: true}
	lineCost   = recordCost{size: 32}
	labelCost  = recordCost{size: 200} // in up to three maps
)

// profileCosts lists the fields of a profile (profile.proto), by number.
var profileCosts = []recordCost{
	1:  {size: 64},                                                                    // sample_type
	2:  {size: 208, fields: []recordCost{1: numberCost, 2: numberCost, 3: labelCost}}, // sample
	3:  {size: 160},                                                                   // mapping
	4:  {size: 96, fields: []recordCost{4: lineCost}},                                 // location
	5:  {size: 120},                                                                   // function
	6:  {size: 32},                                                                    // string_table
	11: {size: 64},                                                                    // period_type
	13: numberCost,                                                                    // comment
}

// checkProfileCost rejects a profile whose records would take much more memory than its size makes plausible. stored
// is the size of the file.
func checkProfileCost(data []byte, stored int) error {
	cost, records := costOf(data, profileCosts)
	limit := int64(freeProfile) + min(perPackedByte*int64(stored), perProfileByte*int64(len(data)))
	if cost > limit {
		return fmt.Errorf("%d records would take %d MB of memory; the limit for %d bytes, of which %d are stored, is %d MB", records, cost>>20, len(data), stored, limit>>20)
	}
	return nil
}

// costOf returns the memory in bytes for the records of a message, and their number. It stops where the message is
// malformed.
func costOf(data []byte, fields []recordCost) (sum int64, records int) {
	for len(data) > 0 {
		tag, n := binary.Uvarint(data)
		if n <= 0 {
			return sum, records
		}
		data = data[n:]
		var cost recordCost
		if number := tag >> 3; number < uint64(len(fields)) {
			cost = fields[number]
		}
		value, rest, ok := fieldOf(data, tag&7)
		if !ok {
			return sum, records
		}
		data = rest
		switch {
		case cost.size == 0:
			continue
		case cost.packed && tag&7 == wireBytes:
			n := numbersIn(value)
			sum, records = sum+int64(n)*cost.size, records+n
			continue
		case cost.fields != nil && tag&7 == wireBytes:
			inner, n := costOf(value, cost.fields)
			sum, records = sum+inner, records+n
		}
		sum, records = sum+cost.size, records+1
	}
	return sum, records
}

const wireBytes = 2 // the wire type of fields with a length

// fieldOf returns the contents of a field, if it has a length, and the data after the field.
func fieldOf(data []byte, wire uint64) (value, rest []byte, ok bool) {
	size, before := uint64(0), 0
	switch wire {
	case 0, wireBytes:
		n, width := binary.Uvarint(data)
		if width <= 0 {
			return nil, nil, false
		}
		if before = width; wire == wireBytes {
			size = n
		}
	case 1:
		size = 8
	case 5:
		size = 4
	default:
		return nil, nil, false
	}
	if size > uint64(len(data)-before) {
		return nil, nil, false
	}
	end := before + int(size)
	return data[before:end], data[end:], true
}

// numbersIn returns the number of varints in a list.
func numbersIn(list []byte) (n int) {
	for _, b := range list {
		if b < 0x80 {
			n++
		}
	}
	return n
}

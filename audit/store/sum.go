package store

import (
	"cmp"
	"context"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"

	"modernc.org/sqlite"
)

// Rows carry a checksum (CRC-32C) of their contents: SQLite notices a damaged structure, but
// not a changed number in a row. What has a hash of its content (results, listings, settings)
// needs no checksum, and row numbers are also in the indices, which are compared.

// summed lists the tables whose rows have a checksum, with the columns that it covers, small
// tables first.
var summed = []struct {
	table, columns string
	small          bool // read as a whole with every view
}{
	{"run", "uid, setting, config, started, seen, cells, events", true},
	{"toolchain", "name, build, max_ptx", true},
	{"col", "setting, toolchain, target, level, layout", true},
	{"test", "hash, name, about, text", true},
	{"event", "run, n, pos, kind, ref, count, data", true},
	{"cell", "col, test, body, code, run", false},
	{"artefact", "kind, hash, size", false},
	{"machine", "code, thread, artefact", false},
	{"source", "test, col, thread, artefact", false},
	{"label", "name, artefact", false},
}

func init() {
	sqlite.MustRegisterDeterministicScalarFunction("optcheck_sum", -1, func(_ *sqlite.FunctionContext,
		args []driver.Value) (driver.Value, error) {
		if len(args) == 0 {
			return nil, errors.New("optcheck_sum of nothing")
		}
		table, ok := args[0].(string)
		if !ok {
			return nil, errors.New("optcheck_sum: no table")
		}
		b := []byte(table)
		for _, v := range args[1:] {
			b = appendValue(b, v)
		}
		return sumOf(b), nil
	})
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sumOf is signed, so that it takes four bytes in a row.
func sumOf(b []byte) int64 { return int64(int32(crc32.Checksum(b, castagnoli))) }

// appendValue encodes a value of a row so that different rows have different encodings.
func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, 'n')
	case int64:
		return binary.LittleEndian.AppendUint64(append(b, 'i'), uint64(v))
	case string:
		return append(binary.LittleEndian.AppendUint64(append(b, 't'), uint64(len(v))), v...)
	case []byte:
		return append(binary.LittleEndian.AppendUint64(append(b, 't'), uint64(len(v))), v...)
	case float64:
		return binary.LittleEndian.AppendUint64(append(b, 'f'), math.Float64bits(v))
	}
	return append(b, '?')
}

// cellSum returns the checksum of a cell, equal to that of optcheck_sum.
func cellSum(col, test, body int64, code any, run int64) int64 {
	var buf [128]byte
	b := append(buf[:0], "cell"...)
	for _, n := range [...]int64{col, test, body} {
		b = binary.LittleEndian.AppendUint64(append(b, 'i'), uint64(n))
	}
	b = appendValue(b, code)
	return sumOf(binary.LittleEndian.AppendUint64(append(b, 'i'), uint64(run)))
}

// checkCell compares a cell with its checksum.
func checkCell(seq, col, test, body int64, code any, run, sum int64) error {
	if cellSum(col, test, body, code, run) != sum {
		return errDamaged("cell %d does not match its checksum", seq)
	}
	return nil
}

// checkRows compares the rows of the small tables with their checksums before anybody uses
// them.
func (s *Store) checkRows(ctx context.Context) error {
	if ok, err := s.counter(ctx); err != nil || !ok {
		return cmp.Or(err, errDamaged("the change counter is missing"))
	}
	for _, t := range summed {
		if !t.small {
			continue
		}
		bad, err := s.badRows(ctx, t.table, t.columns, 1)
		if err != nil {
			return err
		}
		for _, row := range bad {
			return errDamaged("%s", row)
		}
	}
	return nil
}

// counter reports whether the change counter exists, and nothing else is in its table.
func (s *Store) counter(ctx context.Context) (ok bool, err error) {
	var n, epochs int64
	err = s.c.QueryRowContext(ctx, "SELECT count(*), coalesce(sum(name='epoch' AND typeof(value)='integer'), 0) FROM meta").Scan(&n, &epochs)
	return n == 1 && epochs == 1, err
}

// badRows describes the rows of a table that do not match their checksums, at most limit.
func (s *Store) badRows(ctx context.Context, table, columns string, limit int) (out []string, err error) {
	key := map[string]string{"cell": "seq", "event": "run || '/' || n", "machine": "code || '/' || thread",
		"source": "test || '/' || col || '/' || thread", "label": "name"}[table]
	if key == "" {
		key = "id"
	}
	q := fmt.Sprintf("SELECT %s FROM %s WHERE sum IS NOT optcheck_sum('%s', %s) LIMIT %d", key, table, table, columns, limit)
	err = s.each(ctx, q, nil, func(scan func(...any) error) error {
		var row any
		if err := scan(&row); err != nil {
			return err
		}
		what := table
		switch table {
		case "col":
			what = "column"
		case "machine", "source", "label":
			what = "reference to an artefact"
		}
		name := fmt.Sprint(row)
		if _, ok := row.(int64); !ok {
			name = fmt.Sprintf("%.80q", name)
		}
		out = append(out, fmt.Sprintf("%s %s does not match its checksum", what, name))
		return nil
	})
	return out, err
}

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// applicationID marks the files ("optc").
const applicationID = 0x6f707463

// version is the version of the schema. It changes when tables change.
const version = 2

// schema creates the tables of a store. All have checksums, except those whose rows are
// identified by hashes of their content.
const schema = `
-- epoch counts the changes that took something away: what a reader or a writer
-- remembers of row numbers holds as long as it stays the same.
CREATE TABLE meta(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO meta VALUES('epoch', 0);

-- setting is what decides a cell beside its test and its place.
CREATE TABLE setting(id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, data TEXT NOT NULL);

CREATE TABLE "run"(id INTEGER PRIMARY KEY, uid BLOB NOT NULL UNIQUE, setting INTEGER NOT NULL, config TEXT NOT NULL,
  started INTEGER NOT NULL, seen INTEGER NOT NULL, cells INTEGER NOT NULL, events INTEGER NOT NULL, sum INTEGER NOT NULL);

CREATE TABLE "toolchain"(id INTEGER PRIMARY KEY, name TEXT NOT NULL, build TEXT NOT NULL, max_ptx TEXT NOT NULL, sum INTEGER NOT NULL,
  UNIQUE(name, build, max_ptx));

-- about is what the event of the test says beside hash, name and text.
CREATE TABLE "test"(id INTEGER PRIMARY KEY, hash TEXT NOT NULL, name TEXT NOT NULL, about TEXT NOT NULL, text BLOB NOT NULL, sum INTEGER NOT NULL,
  UNIQUE(hash, name));

-- col is a column of the matrix.
CREATE TABLE "col"(id INTEGER PRIMARY KEY, setting INTEGER NOT NULL, toolchain INTEGER NOT NULL, target TEXT NOT NULL,
  level TEXT NOT NULL, layout TEXT NOT NULL, sum INTEGER NOT NULL, UNIQUE(setting, toolchain, target, level, layout));

-- body is a result without the hash of its code.
CREATE TABLE body(id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, class TEXT NOT NULL, data BLOB NOT NULL);

-- code is the hash of the machine code: a number if it has 16 hexadecimal digits.
CREATE TABLE "cell"(seq INTEGER PRIMARY KEY, col INTEGER NOT NULL, test INTEGER NOT NULL, body INTEGER NOT NULL, code,
  run INTEGER NOT NULL, sum INTEGER NOT NULL, UNIQUE(col, test));

CREATE TABLE listing(id INTEGER PRIMARY KEY, code TEXT NOT NULL, hash BLOB NOT NULL, data BLOB NOT NULL, UNIQUE(code, hash));

-- event holds what else a run told, in its order: n is the number of the event
-- among them, pos the number of the run's cells before it. Tests with
-- neighbouring numbers are one row.
CREATE TABLE "event"(run INTEGER NOT NULL, n INTEGER NOT NULL, pos INTEGER NOT NULL, kind INTEGER NOT NULL,
  ref INTEGER NOT NULL, count INTEGER NOT NULL, data BLOB, sum INTEGER NOT NULL, PRIMARY KEY(run, n)) WITHOUT ROWID;

CREATE TABLE "artefact"(id INTEGER PRIMARY KEY, kind TEXT NOT NULL, hash BLOB NOT NULL, size INTEGER NOT NULL,
  data BLOB NOT NULL, sum INTEGER NOT NULL, UNIQUE(hash, kind));
-- machine names the machine code of a cell's thread, source what it was compiled from.
CREATE TABLE "machine"(code TEXT NOT NULL, thread INTEGER NOT NULL, artefact INTEGER NOT NULL, sum INTEGER NOT NULL,
  PRIMARY KEY(code, thread)) WITHOUT ROWID;
CREATE TABLE "source"(test INTEGER NOT NULL, col INTEGER NOT NULL, thread INTEGER NOT NULL, artefact INTEGER NOT NULL,
  sum INTEGER NOT NULL, PRIMARY KEY(test, col, thread)) WITHOUT ROWID;
-- label names other artefacts.
CREATE TABLE "label"(name TEXT PRIMARY KEY, artefact INTEGER NOT NULL, sum INTEGER NOT NULL) WITHOUT ROWID;
`

// makeTables creates the tables of an empty database.
func makeTables(ctx context.Context, c *sql.Conn) error {
	_, err := c.ExecContext(ctx, schema+fmt.Sprintf("PRAGMA application_id=%d; PRAGMA user_version=%d", applicationID, version))
	return err
}

// object is an entry of a database's schema.
type object struct{ kind, name, sql string }

func objects(ctx context.Context, c *sql.Conn) ([]object, error) {
	rows, err := c.QueryContext(ctx,
		"SELECT type, name, coalesce(sql, '') FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%' ORDER BY name LIMIT 1000")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []object
	for rows.Next() {
		var o object
		if err := rows.Scan(&o.kind, &o.name, &o.sql); err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, rows.Err()
}

// sameSchema checks that a database has exactly the tables of a store, so that no foreign
// trigger or view runs on our behalf.
func sameSchema(ctx context.Context, c *sql.Conn) error {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return err
	}
	defer db.Close()
	m, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer m.Close()
	if err := makeTables(ctx, m); err != nil {
		return err
	}
	want, err := objects(ctx, m)
	if err != nil {
		return err
	}
	got, err := objects(ctx, c)
	if err != nil {
		return err
	}
	has := map[object]bool{}
	for _, o := range got {
		has[o] = true
	}
	for _, o := range want {
		if !has[o] {
			return fmt.Errorf("%w: the %s %s does not match this version's schema", ErrDamaged, o.kind, o.name)
		}
		delete(has, o)
	}
	for o := range has {
		return fmt.Errorf("%w: the %s %s does not belong there", ErrDamaged, o.kind, o.name)
	}
	return nil
}

// Errors of stores, to be distinguished by errors.Is.
var (
	ErrNoStore  = errors.New("not an optcheck store")
	ErrNewer    = errors.New("the store was written by a newer version of optcheck")
	ErrOlder    = errors.New("the store was written by an older version of optcheck")
	ErrDamaged  = errors.New("the store is damaged")
	ErrFull     = errors.New("no space left for the store; what was stored before is intact")
	ErrReadOnly = errors.New("the store cannot be written")
	ErrBusy     = errors.New("the store is in use by another process")
	ErrConflict = errors.New("conflicting results")
)

// errDamaged returns an ErrDamaged with details.
func errDamaged(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrDamaged, fmt.Errorf(format, args...))
}

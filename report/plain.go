package report

import "io"

// plainWriter passes text on without what would make a terminal do something:
// control characters but line ends and tabs become question marks, those above
// ASCII (which some terminals obey, too) become ¤. Names in a run come from
// anywhere.
type plainWriter struct {
	w    io.Writer
	last byte
	buf  []byte
}

// Write implements io.Writer.
func (p *plainWriter) Write(text []byte) (int, error) {
	p.buf = append(p.buf[:0], text...)
	for i, c := range p.buf {
		switch {
		case c < ' ' && c != '\n' && c != '\t', c == 0x7f:
			p.buf[i] = '?'
		case p.last == 0xc2 && c >= 0x80 && c < 0xa0: // UTF-8 of U+0080 to U+009F
			p.buf[i] = 0xa4
		}
		p.last = c
	}
	_, err := p.w.Write(p.buf)
	return len(text), err
}

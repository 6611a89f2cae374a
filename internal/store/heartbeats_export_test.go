package store

// Cut ends the pulse's connection without a word, as a killed process does.
func (p *Pulse) Cut() { _ = p.conn.PgConn().Conn().Close() }

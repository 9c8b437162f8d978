//! A grid of cells that follows Neovim's `ext_linegrid` redraw events. Text and cursor only, no colours.

use rmpv::Value;

#[derive(Default)]
pub struct Screen {
    pub width: usize,
    pub height: usize,
    pub cursor: (usize, usize),
    /// How many whole screens have come.
    pub flushes: u64,
    cells: Vec<String>,
}

impl Screen {
    pub fn text(&self) -> String {
        let rows = (0..self.height).map(|row| self.cells[row * self.width..(row + 1) * self.width].concat());
        rows.map(|row| row.trim_end().to_string()).collect::<Vec<_>>().join("\n")
    }

    /// A batch is [event name, arguments of the first, arguments of the second, …].
    pub fn apply(&mut self, batch: &Value) {
        let Some([name, calls @ ..]) = batch.as_array().map(Vec::as_slice) else { return };
        for call in calls.iter().filter_map(Value::as_array) {
            let number = |i: usize| call.get(i).and_then(Value::as_i64).unwrap_or(0);
            let index = |i: usize| usize::try_from(number(i)).unwrap_or(0);
            match name.as_str() {
                Some("grid_resize") => self.resize(index(1), index(2)),
                Some("grid_clear") => self.cells.fill(" ".into()),
                Some("grid_cursor_goto") => self.cursor = (index(1), index(2)),
                Some("grid_line") => self.line(index(1), index(2), &call[3]),
                Some("grid_scroll") => self.scroll((index(1), index(2)), (index(3), index(4)), number(5)),
                Some("flush") => self.flushes += 1,
                _ => {}
            }
        }
    }

    fn resize(&mut self, width: usize, height: usize) {
        let mut cells = vec![" ".to_string(); width * height];
        for row in 0..height.min(self.height) {
            for col in 0..width.min(self.width) {
                cells[row * width + col] = std::mem::take(&mut self.cells[row * self.width + col]);
            }
        }
        (self.width, self.height, self.cells) = (width, height, cells);
    }

    /// A cell is [text], [text, highlight] or [text, highlight, repeat]; the right half of a wide character is "".
    fn line(&mut self, row: usize, first: usize, cells: &Value) {
        let mut col = first;
        for cell in cells.as_array().into_iter().flatten().filter_map(Value::as_array) {
            let text = cell.first().and_then(Value::as_str).unwrap_or(" ");
            let repeat = cell.get(2).and_then(Value::as_u64).unwrap_or(1);
            for _ in 0..repeat {
                if let Some(place) = self.cells.get_mut(row * self.width + col) {
                    *place = text.to_string();
                }
                col += 1;
            }
        }
    }

    /// Moves the rows `top..bottom` of the columns `left..right` up by `rows` (down when negative).
    fn scroll(&mut self, (top, bottom): (usize, usize), (left, right): (usize, usize), rows: i64) {
        let distance = usize::try_from(rows.unsigned_abs()).unwrap_or(0);
        let moves = (top..bottom.saturating_sub(distance)).map(|row| (row + distance, row));
        let moves: Vec<(usize, usize)> =
            if rows > 0 { moves.collect() } else { moves.map(|(low, high)| (high, low)).rev().collect() };
        for (from, to) in moves {
            for col in left..right {
                self.cells[to * self.width + col] = self.cells[from * self.width + col].clone();
            }
        }
    }
}

use api_model::Name;
use comfy_table::{Cell, CellAlignment, ColumnConstraint, Width, presets::NOTHING};

use super::text::escaped;

/// The spaces between two columns.
const GAP: u16 = 2;

/// Lines of values under headings, without borders. What is put in is made safe to show.
pub(crate) struct Table(comfy_table::Table);

/// What the pages of one table have in common: the headings stand on the first, and columns are at
/// least as wide as on the page before.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    widths: Vec<u16>,
}

impl Pages {
    /// Whether there was no page yet.
    pub(crate) fn is_first(&self) -> bool {
        self.widths.is_empty()
    }
}

/// What is in one cell.
pub(crate) enum Value {
    /// A text.
    Text(String),
    /// A number. Its column stands to the right.
    Number(u64),
}

impl Table {
    /// A table with these headings.
    pub(crate) fn new<const N: usize>(headings: [&str; N]) -> Self {
        let mut table = Self::untitled();
        table.0.set_header(headings);
        table
    }

    /// A table without headings, such as one of names and values.
    pub(crate) fn untitled() -> Self {
        let mut table = comfy_table::Table::new();
        table.load_style(NOTHING);
        Self(table)
    }

    /// The next page of a table with these headings.
    pub(crate) fn page<const N: usize>(headings: [&str; N], pages: &Pages) -> Self {
        if pages.is_first() { Self::new(headings) } else { Self::untitled() }
    }

    /// The table with one line more.
    pub(crate) fn row<const N: usize>(mut self, values: [Value; N]) -> Self {
        let is_number = values.each_ref().map(|value| matches!(value, Value::Number(_)));
        self.0.add_row(values.map(cell));
        for (column, _) in self.0.column_iter_mut().zip(is_number).filter(|(_, is)| *is) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        self
    }

    /// The table with a line for each item.
    pub(crate) fn rows<I: IntoIterator, const N: usize>(
        self,
        items: I,
        row: impl Fn(I::Item) -> [Value; N],
    ) -> Self {
        items.into_iter().fold(self, |table, item| table.row(row(item)))
    }

    /// The lines of a page, which the pages behind it are to be like.
    pub(crate) fn render_page(mut self, pages: &mut Pages) -> String {
        let mut widths = self.0.column_max_content_widths();
        for (width, before) in widths.iter_mut().zip(&pages.widths) {
            *width = (*width).max(*before);
        }
        for (column, width) in self.0.column_iter_mut().zip(&widths) {
            let with_gap = Width::Fixed(width.saturating_add(GAP));
            column.set_constraint(ColumnConstraint::LowerBoundary(with_gap));
        }
        pages.widths = widths;
        self.render()
    }

    /// The lines, without spaces at their ends.
    pub(crate) fn render(mut self) -> String {
        self.0.column_iter_mut().for_each(|column| {
            column.set_padding((0, GAP));
        });
        let lines = self.0.lines().map(|line| line.trim_end().to_owned());
        lines.collect::<Vec<_>>().join("\n")
    }
}

fn cell(value: Value) -> Cell {
    match value {
        Value::Text(text) => Cell::new(escaped(&text)),
        Value::Number(number) => Cell::new(number),
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&Name> for Value {
    fn from(name: &Name) -> Self {
        name.as_str().into()
    }
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl From<$number> for Value {
            fn from(number: $number) -> Self {
                Self::Number(number.into())
            }
        }
    )*};
}

numbers! { u8 u16 u32 u64 }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_stand_to_the_left_and_numbers_to_the_right() {
        let table = Table::new(["NAME", "PACKETS"])
            .row(["lan".into(), 7_u64.into()])
            .rows([("wireless", 1_234_567_890_u64)], |(name, packets)| {
                [name.into(), packets.into()]
            });
        assert_eq!(
            table.render(),
            "NAME         PACKETS\n\
             lan                7\n\
             wireless  1234567890"
        );
    }

    #[test]
    fn pages_stand_below_one_another() {
        let mut pages = Pages::default();
        let mut page = |rows: &[(&str, u64)]| {
            let table = Table::page(["NAME", "PACKETS", "LAST"], &pages);
            let table =
                table.rows(rows, |(name, packets)| [(*name).into(), (*packets).into(), "x".into()]);
            table.render_page(&mut pages)
        };
        let text = [page(&[("lan", 7)]), page(&[("wireless", 8), ("b", 9)]), page(&[("c", 1)])];
        assert_eq!(
            text.join("\n"),
            "NAME  PACKETS  LAST\n\
             lan         7  x\n\
             wireless        8  x\n\
             b               9  x\n\
             c               1  x"
        );
    }

    #[test]
    fn a_cell_stays_one_line_and_harmless() {
        let table = Table::untitled().row(["a\nb\u{1b}[31m".into(), "c".into()]);
        assert_eq!(table.render(), r"a\u{a}b\u{1b}[31m  c");
    }
}

//! The tables of the ranked workloads: one list of columns, from which the statements, the rows and the answers are made.
//!
//! The columns are in alphabetical order, so a driver that sorts its keys gives the same bytes. All drivers agree on
//! these types, once the query turns dates into text. The other types are in the table of
//! [`super::fidelity`].

use super::content::{self, Content};
use Content::{Account, Day, Decimal, Flag, Key, Moment, Text, Whole};

#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    pub name: &'static str,
    pub sql_type: &'static str,
    pub nullable: bool,
    pub content: Content,
    /// Whether the narrower table has it, too.
    in_both: bool,
}

/// One of the two tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rows {
    /// 40 columns, 10,000 rows.
    Narrow,
    /// 50 columns, 1,000 rows.
    Wide,
}

impl Rows {
    /// Both.
    pub(super) const ALL: [Self; 2] = [Self::Narrow, Self::Wide];

    /// The name of the table.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Narrow => "rows40",
            Self::Wide => "rows50",
        }
    }

    /// How many rows it has; their keys count from 1.
    pub(super) const fn count(self) -> u32 {
        match self {
            Self::Narrow => 10_000,
            Self::Wide => 1_000,
        }
    }

    /// The seed of its rows.
    pub(super) const fn seed(self) -> u64 {
        match self {
            Self::Narrow => 40,
            Self::Wide => 50,
        }
    }

    /// Its columns, in order.
    pub(super) fn columns(self) -> impl Iterator<Item = &'static Column> {
        COLUMNS.iter().filter(move |column| column.in_both || self == Self::Wide)
    }
}

impl Column {
    /// The column expression of the view that has dates as text.
    pub(super) fn as_text(&self) -> String {
        let name = self.name;
        match self.content {
            Day { .. } => format!("DATE_FORMAT({name}, '%Y-%m-%d') AS {name}"),
            Moment { .. } => format!("DATE_FORMAT({name}, '%Y-%m-%d %H:%i:%s') AS {name}"),
            _ => name.to_owned(),
        }
    }
}

const fn owed(name: &'static str, sql_type: &'static str, content: Content) -> Column {
    Column { name, sql_type, nullable: false, content, in_both: true }
}

const fn nullable(name: &'static str, sql_type: &'static str, content: Content) -> Column {
    Column { nullable: true, ..owed(name, sql_type, content) }
}

const fn wide(column: Column) -> Column {
    Column { in_both: false, ..column }
}

#[rustfmt::skip]
const COLUMNS: [Column; 50] = [
    owed("account_id", "INT", Account),
    owed("active", "BOOLEAN", Flag { percent: 80 }),
    owed("address", "VARCHAR(80)", Text(content::address)),
    owed("amount", "DECIMAL(12,2)", Decimal { least: -5_000_000, most: 99_999_999, places: 2 }),
    nullable("balance", "DECIMAL(14,4)", Decimal { least: -900_000_000, most: 9_999_999_999, places: 4 }),
    wide(owed("barcode", "CHAR(13)", Text(content::barcode))),
    nullable("birthday", "DATE", Day { first_year: 1940, last_year: 2006 }),
    nullable("campaign", "VARCHAR(40)", Text(content::campaign)),
    wide(nullable("carrier", "VARCHAR(30)", Text(content::carrier))),
    owed("city", "VARCHAR(40)", Text(content::city)),
    nullable("comment", "VARCHAR(160)", Text(content::comment)),
    nullable("company", "VARCHAR(60)", Text(content::company)),
    owed("country", "CHAR(2)", Text(content::country)),
    owed("created_at", "DATETIME", Moment { first_year: 2015, last_year: 2023 }),
    owed("currency", "CHAR(3)", Text(content::currency)),
    owed("deleted", "BOOLEAN", Flag { percent: 5 }),
    wide(nullable("delivered_on", "DATE", Day { first_year: 2024, last_year: 2025 })),
    wide(owed("depth_mm", "INT", Whole { least: 10, most: 2_500 })),
    nullable("discount", "DECIMAL(5,2)", Decimal { least: 0, most: 7_500, places: 2 }),
    owed("email", "VARCHAR(80)", Text(content::email)),
    owed("first_name", "VARCHAR(40)", Text(content::first_name)),
    wide(owed("fragile", "BOOLEAN", Flag { percent: 20 })),
    wide(nullable("gift", "BOOLEAN", Flag { percent: 10 })),
    nullable("height_cm", "SMALLINT", Whole { least: 140, most: 210 }),
    owed("id", "INT", Key),
    owed("invoice", "VARCHAR(20)", Text(content::invoice)),
    owed("language", "CHAR(2)", Text(content::language)),
    nullable("last_login", "DATETIME", Moment { first_year: 2023, last_year: 2025 }),
    owed("last_name", "VARCHAR(40)", Text(content::last_name)),
    nullable("manager_id", "INT", Whole { least: 1, most: 2_147_483_647 }),
    nullable("newsletter", "BOOLEAN", Flag { percent: 40 }),
    owed("note", "VARCHAR(200)", Text(content::note)),
    owed("orders", "INT", Whole { least: 0, most: 400 }),
    nullable("phone", "VARCHAR(24)", Text(content::phone)),
    owed("points", "INT", Whole { least: -2_147_483_647, most: 2_147_483_647 }),
    owed("postcode", "VARCHAR(10)", Text(content::postcode)),
    owed("price", "DECIMAL(10,2)", Decimal { least: 1, most: 99_999, places: 2 }),
    owed("quantity", "SMALLINT", Whole { least: 1, most: 999 }),
    nullable("region", "VARCHAR(30)", Text(content::region)),
    owed("score", "DECIMAL(6,3)", Decimal { least: -100_000, most: 100_000, places: 3 }),
    wide(owed("shelf", "VARCHAR(8)", Text(content::shelf))),
    owed("sku", "VARCHAR(16)", Text(content::sku)),
    owed("status", "VARCHAR(12)", Text(content::status)),
    wide(owed("stock", "INT", Whole { least: 0, most: 90_000 })),
    owed("tax", "DECIMAL(5,2)", Decimal { least: 0, most: 2_500, places: 2 }),
    owed("title", "VARCHAR(60)", Text(content::title)),
    owed("updated_at", "DATETIME", Moment { first_year: 2024, last_year: 2025 }),
    wide(owed("vendor_id", "INT", Whole { least: 1, most: 5_000 })),
    nullable("website", "VARCHAR(80)", Text(content::website)),
    wide(owed("weight_kg", "DECIMAL(8,3)", Decimal { least: 10, most: 99_999, places: 3 })),
];

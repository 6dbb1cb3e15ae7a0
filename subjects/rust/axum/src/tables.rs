//! Rows of the two views, which convert dates to strings. Decimals become strings in JSON.

use serde::Serialize;
use sqlx::error::BoxDynError;
use sqlx::mysql::{MySqlTypeInfo, MySqlValueRef};
use sqlx::postgres::{PgTypeInfo, PgValueRef};
use sqlx::types::Decimal;
use sqlx::{Decode, FromRow, MySql, Postgres, Type};

/// A decimal with all of its digits. sqlx drops PostgreSQL's trailing zeros after the decimal point.
#[derive(Serialize)]
#[serde(transparent)]
pub struct Exact(Decimal);

impl Type<MySql> for Exact {
    fn type_info() -> MySqlTypeInfo {
        <Decimal as Type<MySql>>::type_info()
    }

    fn compatible(found: &MySqlTypeInfo) -> bool {
        <Decimal as Type<MySql>>::compatible(found)
    }
}

impl Type<Postgres> for Exact {
    fn type_info() -> PgTypeInfo {
        <Decimal as Type<Postgres>>::type_info()
    }
}

impl<'r> Decode<'r, MySql> for Exact {
    fn decode(value: MySqlValueRef<'r>) -> Result<Self, BoxDynError> {
        Decode::<MySql>::decode(value).map(Self)
    }
}

impl<'r> Decode<'r, Postgres> for Exact {
    fn decode(value: PgValueRef<'r>) -> Result<Self, BoxDynError> {
        // Number of digits, weight, sign, and then the number of digits after the decimal point.
        let scale = value.as_bytes()?.get(6..8).map_or(0, |scale| u16::from_be_bytes([scale[0], scale[1]]));
        let mut decimal: Decimal = Decode::<Postgres>::decode(value)?;
        decimal.rescale(scale.into());
        Ok(Self(decimal))
    }
}

#[derive(Serialize, FromRow)]
pub struct Row40 {
    account_id: i32,
    active: i16,
    address: String,
    amount: Exact,
    balance: Option<Exact>,
    birthday: Option<String>,
    campaign: Option<String>,
    city: String,
    comment: Option<String>,
    company: Option<String>,
    country: String,
    created_at: String,
    currency: String,
    deleted: i16,
    discount: Option<Exact>,
    email: String,
    first_name: String,
    height_cm: Option<i16>,
    id: i32,
    invoice: String,
    language: String,
    last_login: Option<String>,
    last_name: String,
    manager_id: Option<i32>,
    newsletter: Option<i16>,
    note: String,
    orders: i32,
    phone: Option<String>,
    points: i32,
    postcode: String,
    price: Exact,
    quantity: i16,
    region: Option<String>,
    score: Exact,
    sku: String,
    status: String,
    tax: Exact,
    title: String,
    updated_at: String,
    website: Option<String>,
}

#[derive(Serialize, FromRow)]
pub struct Row50 {
    account_id: i32,
    active: i16,
    address: String,
    amount: Exact,
    balance: Option<Exact>,
    barcode: String,
    birthday: Option<String>,
    campaign: Option<String>,
    carrier: Option<String>,
    city: String,
    comment: Option<String>,
    company: Option<String>,
    country: String,
    created_at: String,
    currency: String,
    deleted: i16,
    delivered_on: Option<String>,
    depth_mm: i32,
    discount: Option<Exact>,
    email: String,
    first_name: String,
    fragile: i16,
    gift: Option<i16>,
    height_cm: Option<i16>,
    id: i32,
    invoice: String,
    language: String,
    last_login: Option<String>,
    last_name: String,
    manager_id: Option<i32>,
    newsletter: Option<i16>,
    note: String,
    orders: i32,
    phone: Option<String>,
    points: i32,
    postcode: String,
    price: Exact,
    quantity: i16,
    region: Option<String>,
    score: Exact,
    shelf: String,
    sku: String,
    status: String,
    stock: i32,
    tax: Exact,
    title: String,
    updated_at: String,
    vendor_id: i32,
    website: Option<String>,
    weight_kg: Exact,
}

#[derive(FromRow)]
pub struct Fortune {
    pub id: i32,
    pub message: String,
}

#[derive(Clone, Copy, Serialize, FromRow)]
pub struct Stock {
    pub amount: i32,
    pub id: i32,
}

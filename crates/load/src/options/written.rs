//! Serialisation of shared options, for a generator on another machine.

/// Bytes as base64.
pub(super) mod bytes {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD as BASE64;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(bytes: &(impl AsRef<[u8]> + ?Sized), serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&BASE64.encode(bytes))
    }

    pub fn deserialize<'de, D: Deserializer<'de>, B: From<Vec<u8>>>(deserializer: D) -> Result<B, D::Error> {
        let text = String::deserialize(deserializer)?;
        BASE64.decode(text).map(B::from).map_err(Error::custom)
    }
}

/// A shared name.
pub(super) mod name {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(name: &Option<Arc<str>>, serializer: S) -> Result<S::Ok, S::Error> {
        name.as_deref().serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Arc<str>>, D::Error> {
        Ok(Option::<String>::deserialize(deserializer)?.map(Arc::from))
    }
}

/// Values shared by all threads.
pub(super) mod data {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::options::Data;

    pub fn serialize<S: Serializer>(data: &Option<Arc<Data>>, serializer: S) -> Result<S::Ok, S::Error> {
        data.as_deref().serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Arc<Data>>, D::Error> {
        Ok(Option::<Data>::deserialize(deserializer)?.map(Arc::new))
    }
}

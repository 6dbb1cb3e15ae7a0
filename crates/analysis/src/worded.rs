//! Enumerations with a word for every value.

/// Defines an enumeration, and the function that returns the word of each value.
macro_rules! worded {
    ($(#[$about:meta])+ pub enum $name:ident by $words:ident { $($(#[$doc:meta])+ $value:ident = $word:literal,)+ }) => {
        $(#[$about])+
        pub enum $name {
            $($(#[$doc])+ $value,)+
        }

        impl $name {
            /// The word shown to people.
            pub fn $words(self) -> &'static str {
                match self {
                    $(Self::$value => $word,)+
                }
            }
        }
    };
}

pub(crate) use worded;

//! The words that rows are made of.
//!
//! They contain what encoders and drivers get wrong: quotes of both kinds, slashes and backslashes, `&`, `<` and `>`,
//! umlauts, scripts of two, three and four bytes a character. Control characters and the two line separators of
//! Unicode are left out, because encoders may differ there and all be right.

/// A name as written, and its form in email addresses.
pub(super) type Name = (&'static str, &'static str);

/// A city with everything that follows from it.
pub(super) struct Place {
    pub city: &'static str,
    pub region: &'static str,
    pub country: &'static str,
    pub language: &'static str,
    pub currency: &'static str,
    /// The prefix of telephone numbers.
    pub dialling: &'static str,
    /// How many digits a postcode has.
    pub postcode_digits: u32,
}

pub(super) const FIRST_NAMES: [Name; 32] = [
    ("Ayu", "ayu"),
    ("Björn", "bjoern"),
    ("Chloé", "chloe"),
    ("Dewi", "dewi"),
    ("Élodie", "elodie"),
    ("Fatima", "fatima"),
    ("Grace", "grace"),
    ("Håkon", "haakon"),
    ("Ingrid", "ingrid"),
    ("Jürgen", "juergen"),
    ("Karin", "karin"),
    ("Łukasz", "lukasz"),
    ("María", "maria"),
    ("Ngozi", "ngozi"),
    ("Oluwaseun", "oluwaseun"),
    ("Priya", "priya"),
    ("Quentin", "quentin"),
    ("Rafał", "rafal"),
    ("Søren", "soeren"),
    ("Tjokorda", "tjokorda"),
    ("Ulrike", "ulrike"),
    ("Vera", "vera"),
    ("Wayan", "wayan"),
    ("Xóchitl", "xochitl"),
    ("Yusuf", "yusuf"),
    ("Zoë", "zoe"),
    ("太郎", "taro"),
    ("小雨", "xiaoyu"),
    ("지우", "jiwoo"),
    ("Андрей", "andrei"),
    ("Ελένη", "eleni"),
    ("𠮷子", "yoshiko"),
];

pub(super) const LAST_NAMES: [Name; 32] = [
    ("Adeyemi", "adeyemi"),
    ("Bakker", "bakker"),
    ("Çelik", "celik"),
    ("D'Angelo", "dangelo"),
    ("Eriksson", "eriksson"),
    ("Fernández", "fernandez"),
    ("Groß", "gross"),
    ("Hidayat", "hidayat"),
    ("Ivanova", "ivanova"),
    ("Jansen", "jansen"),
    ("Kusuma", "kusuma"),
    ("Lindqvist", "lindqvist"),
    ("Müller", "mueller"),
    ("Nowak", "nowak"),
    ("O'Brien", "obrien"),
    ("Papadopoulou", "papadopoulou"),
    ("Quispe", "quispe"),
    ("Rasmussen", "rasmussen"),
    ("Søndergård", "soendergaard"),
    ("Tanaka", "tanaka"),
    ("Ünal", "uenal"),
    ("Vuković", "vukovic"),
    ("Wijaya", "wijaya"),
    ("Xu", "xu"),
    ("Yamamoto", "yamamoto"),
    ("Zielińska", "zielinska"),
    ("山田", "yamada"),
    ("陳", "chen"),
    ("김", "kim"),
    ("Пушкина", "pushkina"),
    ("van der Berg", "vanderberg"),
    ("Smith-Jones", "smith-jones"),
];

const fn place(
    (city, region): (&'static str, &'static str),
    country: &'static str,
    language: &'static str,
    currency: &'static str,
    dialling: &'static str,
    postcode_digits: u32,
) -> Place {
    Place { city, region, country, language, currency, dialling, postcode_digits }
}

pub(super) const PLACES: [Place; 24] = [
    place(("Palu", "Sulawesi Tengah"), "ID", "id", "IDR", "+62 451", 5),
    place(("Makassar", "Sulawesi Selatan"), "ID", "id", "IDR", "+62 411", 5),
    place(("Denpasar", "Bali"), "ID", "id", "IDR", "+62 361", 5),
    place(("Yogyakarta", "Jawa"), "ID", "id", "IDR", "+62 274", 5),
    place(("Köln", "Nordrhein-Westfalen"), "DE", "de", "EUR", "+49 221", 5),
    place(("Görlitz", "Sachsen"), "DE", "de", "EUR", "+49 3581", 5),
    place(("Frankfurt/Oder", "Brandenburg"), "DE", "de", "EUR", "+49 335", 5),
    place(("Zürich", "Zürich"), "CH", "de", "CHF", "+41 44", 4),
    place(("Orléans", "Centre-Val de Loire"), "FR", "fr", "EUR", "+33 2", 5),
    place(("L'Haÿ-les-Roses", "Île-de-France"), "FR", "fr", "EUR", "+33 1", 5),
    place(("Málaga", "Andalucía"), "ES", "es", "EUR", "+34 952", 5),
    place(("Łódź", "Łódzkie"), "PL", "pl", "PLN", "+48 42", 5),
    place(("Tromsø", "Troms & Finnmark"), "NO", "nb", "NOK", "+47 77", 4),
    place(("Göteborg", "Västra Götaland"), "SE", "sv", "SEK", "+46 31", 5),
    place(("İzmir", "Ege"), "TR", "tr", "TRY", "+90 232", 5),
    place(("Θεσσαλονίκη", "Μακεδονία"), "GR", "el", "EUR", "+30 231", 5),
    place(("東京", "関東"), "JP", "ja", "JPY", "+81 3", 7),
    place(("札幌", "北海道"), "JP", "ja", "JPY", "+81 11", 7),
    place(("臺北", "北部"), "TW", "zh", "TWD", "+886 2", 5),
    place(("부산", "경상남도"), "KR", "ko", "KRW", "+82 51", 5),
    place(("São Paulo", "Sudeste"), "BR", "pt", "BRL", "+55 11", 8),
    place(("Lagos", "South West"), "NG", "en", "NGN", "+234 1", 6),
    place(("St. John's", "Newfoundland & Labrador"), "CA", "en", "CAD", "+1 709", 6),
    place(("Bengaluru", "Karnataka"), "IN", "en", "INR", "+91 80", 6),
];

pub(super) const STREETS: [&str; 16] = [
    "Jalan Merdeka",
    "Königsallee",
    "Rue de l'Église",
    "Avenida São João",
    "Storgatan",
    "High Street",
    "ul. Długa",
    "Calle \"El Sol\"",
    "中山路",
    "本町",
    "Οδός Ερμού",
    "İstiklal Caddesi",
    "Am Alten Markt",
    "Jalan Gajah Mada",
    "Lange Straße",
    "Mill Lane",
];

pub(super) const COMPANIES: [&str; 16] = [
    "Müller & Söhne GmbH",
    "PT Sinar Jaya",
    "Ångström A/S",
    "Smith & Wesley <London>",
    "東京商事株式会社",
    "Böhm/Krause OHG",
    "L'Atelier \"Bleu\"",
    "Nordlys AS",
    "Zażółć Sp. z o.o.",
    "Kopi Luwak Nusantara",
    "Ünlü Ticaret",
    "Rock 'n' Roll Records",
    "Σκάκι Α.Ε.",
    "Back\\Slash Systems",
    "Fjord Seafood",
    "三丁目ベーカリー",
];

pub(super) const CAMPAIGNS: [&str; 10] = [
    "spring/sale",
    "Black Friday",
    "50 % & more",
    "newsletter-17",
    "Ramadan",
    "Oktoberfest",
    "neujahr/春節",
    "summer <3",
    "referral",
    "été",
];

pub(super) const TITLES: [&str; 16] = [
    "Teapot, 1.2 l, \"Blue Onion\"",
    "Batik shirt (men's)",
    "Keyboard Größe M",
    "Desk lamp <LED>",
    "Coffee Toraja 250 g",
    "抹茶セット",
    "Café au lait bowl",
    "USB-C cable 2 m / black",
    "Notebook A5 & pen",
    "Gitarrensaiten .010–.046",
    "Chess set Καΐσσα",
    "Bicycle bell 🔔",
    "Wool socks 38/40",
    "Poster \"C:\\>_\"",
    "Rain jacket",
    "Rice bowl 茶碗",
];

pub(super) const STATUSES: [&str; 7] = ["new", "paid", "packed", "shipped", "returned", "cancelled", "closed"];

pub(super) const CARRIERS: [&str; 8] =
    ["JNE", "DHL", "La Poste", "Posten/Bring", "ヤマト運輸", "Pos & Kargo", "GLS", "Correios"];

pub(super) const DOMAINS: [&str; 5] = ["example.com", "example.org", "example.net", "mail.example", "post.example"];

pub(super) const REMARKS: [&str; 24] = [
    "asked for a call back",
    "said: \"leave it at the door\"",
    "path C:\\orders\\in",
    "price < 100 & stock > 0",
    "über den Hof, 2. Stock",
    "gift 🎁 wrapped",
    "call 9/10 answered",
    "señor García's parcel",
    "配達は午後のみ",
    "don't ring",
    "see https://example.com/faq",
    "paid <in full>",
    "naïve façade",
    "rabat 10 % uzgodniony",
    "tanpa gula",
    "Größe prüfen!",
    "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 label",
    "invoice/receipt sent",
    "rated \\o/",
    "подарок",
    "twice as many & half as big",
    "it's the 'other' one",
    "電話で確認",
    "ok 👍🏽",
];

package main

// Rows of the two tables. A pointer is a nullable column. Decimals stay strings, which are exact, and the views convert dates to
// strings.

// row40 is a row of the view rows40_text.
type row40 struct {
	AccountID  int     `json:"account_id"`
	Active     int     `json:"active"`
	Address    string  `json:"address"`
	Amount     string  `json:"amount"`
	Balance    *string `json:"balance"`
	Birthday   *string `json:"birthday"`
	Campaign   *string `json:"campaign"`
	City       string  `json:"city"`
	Comment    *string `json:"comment"`
	Company    *string `json:"company"`
	Country    string  `json:"country"`
	CreatedAt  string  `json:"created_at"`
	Currency   string  `json:"currency"`
	Deleted    int     `json:"deleted"`
	Discount   *string `json:"discount"`
	Email      string  `json:"email"`
	FirstName  string  `json:"first_name"`
	HeightCm   *int    `json:"height_cm"`
	ID         int     `json:"id"`
	Invoice    string  `json:"invoice"`
	Language   string  `json:"language"`
	LastLogin  *string `json:"last_login"`
	LastName   string  `json:"last_name"`
	ManagerID  *int    `json:"manager_id"`
	Newsletter *int    `json:"newsletter"`
	Note       string  `json:"note"`
	Orders     int     `json:"orders"`
	Phone      *string `json:"phone"`
	Points     int     `json:"points"`
	Postcode   string  `json:"postcode"`
	Price      string  `json:"price"`
	Quantity   int     `json:"quantity"`
	Region     *string `json:"region"`
	Score      string  `json:"score"`
	SKU        string  `json:"sku"`
	Status     string  `json:"status"`
	Tax        string  `json:"tax"`
	Title      string  `json:"title"`
	UpdatedAt  string  `json:"updated_at"`
	Website    *string `json:"website"`
}

func (r *row40) fields() []any {
	return []any{
		&r.AccountID, &r.Active, &r.Address, &r.Amount, &r.Balance, &r.Birthday, &r.Campaign, &r.City, &r.Comment,
		&r.Company, &r.Country, &r.CreatedAt, &r.Currency, &r.Deleted, &r.Discount, &r.Email, &r.FirstName,
		&r.HeightCm, &r.ID, &r.Invoice, &r.Language, &r.LastLogin, &r.LastName, &r.ManagerID, &r.Newsletter,
		&r.Note, &r.Orders, &r.Phone, &r.Points, &r.Postcode, &r.Price, &r.Quantity, &r.Region, &r.Score, &r.SKU,
		&r.Status, &r.Tax, &r.Title, &r.UpdatedAt, &r.Website,
	}
}

// row50 is a row of the view rows50_text.
type row50 struct {
	AccountID   int     `json:"account_id"`
	Active      int     `json:"active"`
	Address     string  `json:"address"`
	Amount      string  `json:"amount"`
	Balance     *string `json:"balance"`
	Barcode     string  `json:"barcode"`
	Birthday    *string `json:"birthday"`
	Campaign    *string `json:"campaign"`
	Carrier     *string `json:"carrier"`
	City        string  `json:"city"`
	Comment     *string `json:"comment"`
	Company     *string `json:"company"`
	Country     string  `json:"country"`
	CreatedAt   string  `json:"created_at"`
	Currency    string  `json:"currency"`
	Deleted     int     `json:"deleted"`
	DeliveredOn *string `json:"delivered_on"`
	DepthMm     int     `json:"depth_mm"`
	Discount    *string `json:"discount"`
	Email       string  `json:"email"`
	FirstName   string  `json:"first_name"`
	Fragile     int     `json:"fragile"`
	Gift        *int    `json:"gift"`
	HeightCm    *int    `json:"height_cm"`
	ID          int     `json:"id"`
	Invoice     string  `json:"invoice"`
	Language    string  `json:"language"`
	LastLogin   *string `json:"last_login"`
	LastName    string  `json:"last_name"`
	ManagerID   *int    `json:"manager_id"`
	Newsletter  *int    `json:"newsletter"`
	Note        string  `json:"note"`
	Orders      int     `json:"orders"`
	Phone       *string `json:"phone"`
	Points      int     `json:"points"`
	Postcode    string  `json:"postcode"`
	Price       string  `json:"price"`
	Quantity    int     `json:"quantity"`
	Region      *string `json:"region"`
	Score       string  `json:"score"`
	Shelf       string  `json:"shelf"`
	SKU         string  `json:"sku"`
	Status      string  `json:"status"`
	Stock       int     `json:"stock"`
	Tax         string  `json:"tax"`
	Title       string  `json:"title"`
	UpdatedAt   string  `json:"updated_at"`
	VendorID    int     `json:"vendor_id"`
	Website     *string `json:"website"`
	WeightKg    string  `json:"weight_kg"`
}

func (r *row50) fields() []any {
	return []any{
		&r.AccountID, &r.Active, &r.Address, &r.Amount, &r.Balance, &r.Barcode, &r.Birthday, &r.Campaign,
		&r.Carrier, &r.City, &r.Comment, &r.Company, &r.Country, &r.CreatedAt, &r.Currency, &r.Deleted,
		&r.DeliveredOn, &r.DepthMm, &r.Discount, &r.Email, &r.FirstName, &r.Fragile, &r.Gift, &r.HeightCm, &r.ID,
		&r.Invoice, &r.Language, &r.LastLogin, &r.LastName, &r.ManagerID, &r.Newsletter, &r.Note, &r.Orders,
		&r.Phone, &r.Points, &r.Postcode, &r.Price, &r.Quantity, &r.Region, &r.Score, &r.Shelf, &r.SKU, &r.Status,
		&r.Stock, &r.Tax, &r.Title, &r.UpdatedAt, &r.VendorID, &r.Website, &r.WeightKg,
	}
}
